package io.radixflow.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class GatewayTest {

  @RegisterExtension
  final GatewayFixture gateway =
      new GatewayFixture("gateway.max-body=10kb", "gateway.max-headers=4kb");

  @Test
  void aGatewayIsHealthyAndReadyWhileTheBrokersAnswer() {
    assertThat(gateway.send(gateway.get("/health")).join().statusCode()).isEqualTo(200);
    assertThat(gateway.send(gateway.get("/ready")).join().statusCode()).isEqualTo(200);
    gateway.topics().refuse();
    HttpResponse<String> response = gateway.send(gateway.get("/ready")).join();
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).contains("no broker answers");
    assertThat(gateway.send(gateway.get("/health")).join().statusCode()).isEqualTo(200);
  }

  @Test
  void theServedModelIsListedAndFound() throws IOException {
    JsonNode list = GatewayFixture.json(gateway.send(gateway.get("/v1/models")).join().body());
    assertThat(list.at("/object").asText()).isEqualTo("list");
    assertThat(list.at("/data/0/id").asText()).isEqualTo("sim");
    assertThat(gateway.send(gateway.get("/v1/models/sim")).join().statusCode()).isEqualTo(200);
    for (String window : List.of("/max_model_len", "/context_length", "/meta/n_ctx_train")) {
      assertThat(list.at("/data/0" + window).asInt()).as(window).isPositive();
    }
    gateway.restart("gateway.model-aliases=");
    HttpResponse<String> other = gateway.send(gateway.get("/v1/models/gpt-5")).join();
    assertThat(other.statusCode()).isEqualTo(404);
    assertThat(GatewayFixture.json(other.body()).at("/error/code").asText())
        .isEqualTo("model_not_found");
  }

  private int statusOfModel(String name) {
    return gateway.send(gateway.get("/v1/models/" + name)).join().statusCode();
  }

  @Test
  void anyNameStandsForTheModelUnlessAliasesSayWhich() throws IOException {
    CompletableFuture<HttpResponse<String>> reply =
        gateway.send(
            gateway.post(
                "/v1/messages",
                "{\"model\":\"claude-haiku-4-5-20251001\",\"max_tokens\":4,"
                    + "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"));
    gateway.topics().end(gateway.topics().next(), 0, "stop", Usage.NONE);
    assertThat(GatewayFixture.json(reply.join().body()).at("/model").asText()).isEqualTo("sim");

    gateway.restart("gateway.model-aliases=gpt-4o,claude-*;mine=sim", "engine.context-length=128");
    for (String alias : List.of("sim", "gpt-4o", "mine", "claude-", "claude-haiku-4-5")) {
      assertThat(statusOfModel(alias)).as(alias).isEqualTo(200);
    }
    for (String other : List.of("gpt-4", "gpt-4o-mini", "my-claude-3", "minesim")) {
      assertThat(statusOfModel(other)).as(other).isEqualTo(404);
    }
    JsonNode list = GatewayFixture.json(gateway.send(gateway.get("/v1/models")).join().body());
    assertThat(list.findValuesAsText("id")).containsExactly("sim", "gpt-4o", "mine");
    assertThat(list.at("/data/0/max_model_len").asInt()).isEqualTo(128);
  }

  @Test
  void anAliasOfAnotherModelIsAnErrorAtTheStart() {
    assertThatThrownBy(() -> gateway.restart("gateway.model-aliases=mine=llama"))
        .hasMessageContaining("gateway.model-aliases has mine=llama")
        .hasMessageContaining("=sim");
  }

  @Test
  void optionsOfTheSimulatedModelAreNoPartOfItsName() throws IOException {
    gateway.restart("model=sim:step=2,reply=60");
    JsonNode list = GatewayFixture.json(gateway.send(gateway.get("/v1/models")).join().body());
    assertThat(list.findValuesAsText("id")).containsExactly("sim");
  }

  @Test
  void aPathThatIsNotThereAndAMethodThatIsNotServedAreErrorsInTheFormOfOpenAi() {
    HttpResponse<String> lost = gateway.send(gateway.get("/v1/nothing")).join();
    assertThat(lost.statusCode()).isEqualTo(404);
    JsonNode error = GatewayFixture.json(lost.body()).at("/error");
    assertThat(error.at("/type").asText()).isEqualTo("invalid_request_error");
    assertThat(error.has("param")).isTrue();
    assertThat(error.at("/message").asText()).isNotBlank();
    HttpResponse<String> wrong = gateway.send(gateway.get("/v1/chat/completions")).join();
    assertThat(wrong.statusCode()).isEqualTo(405);
    assertThat(wrong.headers().firstValue("Allow")).hasValue("POST");
  }

  @Test
  void bodiesThatAreNoJsonObjectsOrTooDeepAreRefused() {
    for (String body :
        List.of("no json", "[]", "7", "{\"a\":1} x", "{\"a\":" + "[".repeat(500), "\"x\"")) {
      HttpResponse<String> response =
          gateway.send(gateway.post("/v1/chat/completions", body)).join();
      assertThat(response.statusCode()).as(body).isEqualTo(400);
      assertThat(GatewayFixture.json(response.body()).at("/error/message").asText()).isNotBlank();
    }
  }

  @Test
  void aBodyThatIsTooLargeIsRefusedWithOrWithoutItsLength() {
    byte[] large = new byte[20_000];
    for (HttpRequest.BodyPublisher body :
        List.of(
            HttpRequest.BodyPublishers.ofByteArray(large),
            HttpRequest.BodyPublishers.fromPublisher(
                HttpRequest.BodyPublishers.ofByteArray(large)))) {
      HttpRequest request =
          HttpRequest.newBuilder(gateway.uri("/v1/chat/completions")).POST(body).build();
      HttpResponse<String> response = gateway.send(request).join();
      assertThat(response.statusCode()).isEqualTo(413);
      assertThat(GatewayFixture.json(response.body()).at("/error/code").asText())
          .isEqualTo("request_too_large");
    }
  }

  @Test
  void headersThatAreTooLargeAreRefused() {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri("/health")).header("x", "y".repeat(10_000)).build();
    HttpResponse<String> response = gateway.send(request).join();
    assertThat(response.statusCode()).isEqualTo(431);
    assertThat(GatewayFixture.json(response.body()).at("/error/message").asText())
        .contains("gateway.max-headers");
    assertThat(response.headers().firstValue("Connection")).hasValue("close");
    assertThat(gateway.send(gateway.get("/health")).join().statusCode()).isEqualTo(200);
  }

  @Test
  void aPortThatIsTakenIsNamedWithWhatToDo() {
    URI taken = gateway.gateway().uri();
    FakeTopics topics = new FakeTopics();
    assertThatThrownBy(
            () ->
                Gateway.start(
                    new SettingsLoader().set(List.of("gateway.port=" + taken.getPort())).load(),
                    topics))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(Integer.toString(taken.getPort()))
        .hasMessageContaining("gateway.port");
    assertThat(topics.isClosed()).isTrue();
  }

  @Test
  void aGatewayWithoutKeysDoesNotListenWhereOtherMachinesReachIt() {
    assertThatThrownBy(
            () ->
                Gateway.start(
                    new SettingsLoader().set(List.of("gateway.host=0.0.0.0")).load(),
                    new FakeTopics()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("gateway.allow-anonymous");
  }

  @Test
  void aClosedGatewayLeavesNoThread() throws IOException {
    Set<Long> before = threads();
    FakeTopics topics = new FakeTopics();
    Gateway other =
        Gateway.start(new SettingsLoader().set(List.of("gateway.port=0")).load(), topics);
    other.close();
    assertThat(topics.isClosed()).isTrue();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(before).containsAll(threads()));
  }

  private static Set<Long> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("vert.x"))
        .map(Thread::getId)
        .collect(Collectors.toSet());
  }
}
