package io.radixflow.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.auth.ApiKey;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LiveEndpointsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path directory;
  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private JsonNode awaitStatus(String path, String status) {
    await().atMost(PATIENCE).until(() -> json(path).at("/status").asText().equals(status));
    return json(path);
  }

  private JsonNode json(String path) {
    HttpResponse<String> response = gateway.send(gateway.get(path)).join();
    assertThat(response.statusCode()).isEqualTo(200);
    return GatewayFixture.json(response.body());
  }

  @Test
  void withoutFlinksAddressTheFiguresAreOff() {
    assertThat(awaitStatus("/live/metrics", "off").at("/message").asText())
        .contains("gateway.flink-url");
  }

  @Test
  void figuresComeFromFlinkAndAFlinkThatGoesAwayIsSaidToBeAway() throws IOException {
    try (FakeFlink flink = new FakeFlink()) {
      gateway.restart("gateway.port=0", "model=sim", "gateway.flink-url=" + flink.url());
      assertThat(awaitStatus("/live/metrics", "ok").at("/metrics/pages").asInt()).isEqualTo(605);
    }
    assertThat(awaitStatus("/live/metrics", "failed").at("/message").asText())
        .contains("does not answer");
  }

  @Test
  void aTreeWithoutBrokersSaysWhatToDo() throws IOException {
    gateway.restart(
        "gateway.port=0",
        "model=sim",
        "kafka.bootstrap-servers=127.0.0.1:1",
        "kafka.connect-timeout=1s");
    assertThat(awaitStatus("/live/tree", "failed").at("/message").asText())
        .contains("kv-events.enabled");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/live/metrics", "/live/tree"})
  void onlyKeysOfOperatorsSeeWhatAllTenantsDo(String path) throws IOException {
    ApiKey.Made tenant = ApiKey.make("acme", List.of(), 0, 0);
    ApiKey.Made operator = ApiKey.make("", List.of(), 0, 0, true);
    Path keys = directory.resolve("keys");
    Files.writeString(keys, tenant.line().toJson() + "\n" + operator.line().toJson() + "\n");
    gateway.restart("gateway.port=0", "model=sim", "gateway.api-keys=" + keys);
    assertThat(gateway.send(gateway.get(path)).join().statusCode()).isEqualTo(401);
    HttpResponse<String> refused = send(path, tenant.text());
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("--operator").doesNotContain("status\":\"starting");
    HttpResponse<String> served = send(path, operator.text());
    assertThat(served.statusCode()).isEqualTo(200);
    assertThat(served.headers().firstValue("Cache-Control")).hasValue("no-store");
  }

  private HttpResponse<String> send(String path, String key) {
    return gateway
        .send(
            HttpRequest.newBuilder(gateway.uri(path))
                .header("Authorization", "Bearer " + key)
                .build())
        .join();
  }
}
