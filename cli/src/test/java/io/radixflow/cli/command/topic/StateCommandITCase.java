package io.radixflow.cli.command.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.cli.state.StateSeed;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the output of {@code state} on savepoints of a running job. */
@Timeout(600)
class StateCommandITCase {
  @TempDir Path directory;

  private static Cli.Result state(Path savepoint, String... options) {
    return new Cli()
        .run(
            Stream.concat(Stream.of("state", savepoint.toString()), Stream.of(options))
                .toArray(String[]::new));
  }

  @Test
  void aJobsSavepointShowsItsSessionsAndOneConversation() throws Exception {
    Path kept = directory.resolve("kept data");
    Settings settings = SettingsLoader.defaults().with(SharedConfig.MODEL, "sim");
    String reply;
    try (LocalStack stack =
            LocalStack.start(
                settings,
                new LocalStack.Options(Optional.of(kept), true, 0, 0),
                ServingSettings.engine(settings, LocatedModel::open),
                step -> {});
        ConversationClient client = new ConversationClient(stack.settings())) {
      List<Message> first =
          List.of(new Message("system", "Be kind."), new Message("user", "hello\u001b[2J\nyou"));
      reply = ask(client, EventKind.MESSAGE, "anna", "t1", first).text();
      ask(client, "bert", "t1", "hi");
      assertThat(ask(client, EventKind.CLOSE, "bert", "t2", null).finishReason()).isEqualTo("stop");
    }
    Path savepoint;
    try (Stream<Path> files = Files.list(kept.resolve("savepoints"))) {
      savepoint = files.findFirst().orElseThrow();
    }

    Cli.Result table = state(savepoint);
    assertThat(table.code()).as(table.err()).isZero();
    assertThat(table.out())
        .contains("sessions: 2; turns: 1; turns without a reply: 0", "closed: 1", "warm: 1")
        .containsPattern("acme +2 +1 +0")
        .containsPattern("anna +warm +1 +1 +0 +\\d+ +[1-9]\\d* +[1-9]\\d* +0 +0 +0 +20\\d\\d-")
        .containsPattern("bert +closed +0 +0 +0 +0 +0 +0 +0 +0 +0 +- +20\\d\\d-");

    Cli.Result lines = state(savepoint, "--json");
    assertThat(lines.out().lines())
        .hasSize(2)
        .anyMatch(line -> line.contains("\"session\":\"anna\"") && line.contains("\"turns\":1"))
        .anyMatch(line -> line.matches(".*\"state\":\"warm\".*\"committed_tokens\":[1-9].*"))
        .anyMatch(line -> line.matches(".*\"state\":\"closed\".*\"committed_tokens\":0.*"));

    Cli.Result conversation = state(savepoint, "--session", "anna");
    assertThat(conversation.out())
        .isEqualToNormalizingNewlines(
            "system\n"
                + "  Be kind.\n"
                + "user [main t1]\n"
                + "  hello\uFFFD[2J\n"
                + "  you\n"
                + "assistant [main t1] (stop)\n"
                + "  "
                + reply
                + "\n");
    assertThat(state(savepoint, "--session", "anna", "--json").out().lines())
        .hasSize(3)
        .element(1)
        .asString()
        .contains("\"role\":\"user\"", "hello\\u001B[2J");

    Cli.Result unknown = state(savepoint, "--session", "carl");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err()).contains("no conversation of session 'carl'");
  }

  private static Reply ask(ConversationClient client, String session, String turn, String text)
      throws Exception {
    return ask(client, EventKind.MESSAGE, session, turn, List.of(new Message("user", text)));
  }

  private static Reply ask(
      ConversationClient client,
      EventKind kind,
      String session,
      String turn,
      List<Message> messages)
      throws Exception {
    ConversationEvent event =
        ConversationEvent.builder(kind, session, turn).tenant("acme").messages(messages).build();
    return client.ask(event, ReplyListener.SILENT).get(60, TimeUnit.SECONDS);
  }

  @Test
  void aMadeUpSavepointHasTheRequestedSessions() throws Exception {
    Path savepoint = directory.resolve("50% seed");
    new StateSeed(30, 3, 1_000).write(savepoint, directory, 128, "fingerprint");

    assertThat(state(savepoint, "--json").out().lines())
        .hasSize(30)
        .allMatch(line -> line.contains("\"turns\":3") && line.contains("\"turn_ids\":3"));
    assertThat(state(savepoint, "--limit", "4").out().lines())
        .filteredOn(line -> line.startsWith("idle-"))
        .hasSize(4);
  }

  @Test
  void aDirectoryWithoutASavepointIsRefusedWithAHint() throws Exception {
    Cli.Result missing = state(directory.resolve("nowhere"));
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.err()).contains("is not a savepoint", "_metadata");
    assertThat(state(directory).err()).contains("is not a savepoint");

    Files.write(directory.resolve("_metadata"), "not metadata at all".getBytes());
    Cli.Result garbage = state(directory);
    assertThat(garbage.code()).isEqualTo(1);
    assertThat(garbage.err()).contains("cannot be read as a savepoint");
    assertThat(garbage.err()).doesNotContain("\tat ");
  }
}
