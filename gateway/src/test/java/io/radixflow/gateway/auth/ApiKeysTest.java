package io.radixflow.gateway.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.gateway.auth.AuthDecision.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeysTest {

  @TempDir Path directory;
  private Path file;
  private long now;

  @BeforeEach
  void setFile() {
    file = directory.resolve("keys.jsonl");
  }

  private ApiKeys read(String... lines) throws IOException {
    Files.write(file, List.of(lines));
    return ApiKeys.read(file, () -> now);
  }

  private static Outcome outcome(ApiKeys keys, String text) {
    return keys.admit(text).outcome();
  }

  @Test
  void aKeyCarriesTenantAndModels() throws IOException {
    ApiKey.Made made = ApiKey.make("acme", List.of("sim"), 0, 0);
    ApiKeys keys = read("# keys", "", made.line().toJson());
    AuthDecision admission = keys.admit(made.text());
    assertThat(admission.outcome()).isEqualTo(Outcome.ADMITTED);
    assertThat(admission.caller()).isEqualTo(new Caller("acme", Set.of("sim"), false));
    assertThat(admission.caller().mayUse("sim")).isTrue();
    assertThat(admission.caller().mayUse("other")).isFalse();
    assertThat(made.line().toJson()).doesNotContain(made.text().substring(20));
  }

  @Test
  void whatIsNoKeyOfTheFileIsRefused() throws IOException {
    ApiKey.Made made = ApiKey.make("acme", List.of(), 0, 0);
    ApiKeys keys = read(made.line().toJson());
    String text = made.text();
    for (String wrong :
        new String[] {
          null,
          "",
          "rf_",
          "rf__",
          "Bearer",
          text.substring(0, text.length() - 1),
          text + "x",
          text.substring(0, text.lastIndexOf('_') + 1),
          ApiKey.make("acme", List.of(), 0, 0).text()
        }) {
      assertThat(outcome(keys, wrong)).as(wrong).isEqualTo(Outcome.UNKNOWN_KEY);
    }
  }

  @Test
  void requestsOfAMinuteComeBackEvenly() throws IOException {
    ApiKey.Made made = ApiKey.make("acme", List.of(), 2, 0);
    ApiKeys keys = read(made.line().toJson());
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.ADMITTED);
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.ADMITTED);
    AuthDecision over = keys.admit(made.text());
    assertThat(over.outcome()).isEqualTo(Outcome.TOO_MANY_REQUESTS);
    assertThat(over.retryAfterSeconds()).isEqualTo(30);
    now += Duration.ofSeconds(30).toNanos();
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.ADMITTED);
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.TOO_MANY_REQUESTS);
  }

  @Test
  void aRequestThatEndsMakesRoomForAnother() throws IOException {
    ApiKey.Made made = ApiKey.make("acme", List.of(), 0, 1);
    ApiKeys keys = read(made.line().toJson());
    AuthDecision first = keys.admit(made.text());
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.TOO_MANY_CONCURRENT);
    first.release().run();
    assertThat(outcome(keys, made.text())).isEqualTo(Outcome.ADMITTED);
  }

  @Test
  void aFileThatChangesIsReadAgainAndAWrongOneChangesNothing() throws IOException {
    ApiKey.Made old = ApiKey.make("a", List.of(), 0, 1);
    ApiKey.Made added = ApiKey.make("b", List.of(), 0, 0);
    ApiKeys keys = read(old.line().toJson());
    keys.admit(old.text());
    Files.write(file, List.of(old.line().toJson(), added.line().toJson()));
    keys.reload();
    assertThat(outcome(keys, added.text())).isEqualTo(Outcome.ADMITTED);
    assertThat(outcome(keys, old.text())).isEqualTo(Outcome.TOO_MANY_CONCURRENT);
    Files.writeString(file, "{\"id\":");
    keys.reload();
    assertThat(outcome(keys, added.text())).isEqualTo(Outcome.ADMITTED);
    Files.writeString(file, "");
    keys.reload();
    assertThat(outcome(keys, added.text())).isEqualTo(Outcome.UNKNOWN_KEY);
  }

  @Test
  void whatIsNoFileIsRefusedBeforeItIsRead() {
    assertThatThrownBy(() -> ApiKeys.read(Path.of("/dev/zero")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/dev/zero: it is a pipe, a device or a socket, not a file");
  }

  @Test
  void aWrongLineIsNamed() {
    String line = ApiKey.make("a", List.of(), 0, 0).line().toJson();
    assertThatThrownBy(() -> read(line, line)).hasMessageContaining("line 2");
    assertThatThrownBy(() -> read("{\"id\":\"a\",\"salt\":\"xyz\",\"hash\":\"00\"}"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("salt");
    assertThatThrownBy(() -> read("[]")).isInstanceOf(IOException.class);
  }
}
