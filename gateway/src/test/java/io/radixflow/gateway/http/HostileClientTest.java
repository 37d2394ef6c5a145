package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.auth.ApiKey;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that are slow, that do not send HTTP, or that hope to be misunderstood. */
class HostileClientTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String HELLO = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";
  private static final String HOST = "Host: localhost\n";

  @TempDir Path directory;
  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private RawConnection connect() throws IOException {
    return new RawConnection(gateway.uri("/"));
  }

  @Test
  void aConnectionWhoseHeadersDoNotComeIsClosed() throws IOException {
    gateway.restart("gateway.request-timeout=200ms");
    try (RawConnection connection = connect()) {
      assertThat(connection.send("GET /health HTTP/1.1\nHost: loc").rest()).isEmpty();
    }
  }

  @Test
  void aConnectionThatIsKeptForNothingIsClosed() throws IOException {
    gateway.restart("gateway.request-timeout=200ms");
    try (RawConnection connection = connect()) {
      String response = connection.send("GET /health HTTP/1.1\n" + HOST + "\n").rest();
      assertThat(response).startsWith("HTTP/1.1 200").endsWith("}");
    }
  }

  @Test
  void aConnectionBeyondTheLimitIsClosedAndCounted() throws IOException {
    gateway.restart("gateway.max-connections=2");
    String health = "GET /health HTTP/1.1\n" + HOST + "\n";
    try (RawConnection first = connect();
        RawConnection second = connect()) {
      first.send(health).until("}");
      second.send(health).until("}");
      try (RawConnection third = connect()) {
        assertThat(third.rest()).isEmpty();
      }
      assertThat(metrics(first))
          .contains("radixflow_gateway_open_connections 2.0")
          .contains("radixflow_gateway_connections_refused_total 1.0");
      second.close();
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> metrics(first).contains("radixflow_gateway_open_connections 1.0"));
      try (RawConnection fourth = connect()) {
        assertThat(fourth.send(health).until("}")).startsWith("HTTP/1.1 200");
      }
    }
  }

  private static String metrics(RawConnection connection) throws IOException {
    return connection
        .send("GET /metrics HTTP/1.1\n" + HOST + "\n")
        .until("radixflow_gateway_turns_in_flight 0.0\n");
  }

  @Test
  void aBodyThatComesTooSlowlyIsAnErrorAndTheConnectionIsClosed() throws IOException {
    gateway.restart("gateway.request-timeout=200ms");
    try (RawConnection connection = connect()) {
      connection.send("POST " + CHAT + " HTTP/1.1\n" + HOST + "Content-Length: 100\n\n{\"mess");
      assertThat(connection.rest()).startsWith("HTTP/1.1 408").contains("request_timeout");
    }
  }

  @Test
  void aRequestInProgressIsNotIdle() throws IOException {
    gateway.restart("gateway.request-timeout=200ms");
    CompletableFuture<HttpResponse<String>> response = gateway.send(gateway.post(CHAT, HELLO));
    ConversationEvent event = gateway.topics().next();
    try (RawConnection idle = connect()) {
      assertThat(idle.rest()).isEmpty(); // so the time has passed for the request, too
    }
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).isEqualTo(200);
  }

  private static String withFields(int count) {
    StringBuilder fields = new StringBuilder(HELLO.substring(0, HELLO.length() - 1));
    for (int i = 0; i < count; i++) {
      fields.append(",\"unknown field ").append(i).append("\":1");
    }
    return fields + "}";
  }

  @Test
  void aBodyOfTooManyFieldsIsRefused() {
    HttpResponse<String> refused = gateway.send(gateway.post(CHAT, withFields(1001))).join();
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("1000 are read");
  }

  @Test
  void namesOfIgnoredFieldsFitAHeader() throws IOException {
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(gateway.post(CHAT, withFields(900)));
    gateway.topics().end(gateway.topics().next(), 0, "stop", Usage.NONE);
    assertThat(response.join().headers().firstValue("X-Radixflow-Ignored").orElseThrow())
        .startsWith("unknown?field?0,unknown?field?1,")
        .hasSize(1024);
  }

  @Test
  void bodiesOfAllClientsTogetherAreBounded() throws IOException {
    gateway.restart("gateway.body-memory=20kb");
    try (RawConnection connection = connect()) {
      String large =
          "POST " + CHAT + " HTTP/1.1\n" + HOST + "Content-Length: 25000\n\n" + " ".repeat(25000);
      assertThat(connection.send(large).until("}"))
          .startsWith("HTTP/1.1 503")
          .contains("Retry-After");
    }
    CompletableFuture<HttpResponse<String>> response = gateway.send(gateway.post(CHAT, HELLO));
    gateway.topics().end(gateway.topics().next(), 0, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).as("memory is given back").isEqualTo(200);
  }

  @Test
  void aClientThatWaitsForContinueGetsIt() throws IOException {
    try (RawConnection connection = connect()) {
      String head = "POST /v1/conversations HTTP/1.1\n" + HOST + "Content-Length: 2\n";
      connection.send(head + "Expect: 100-continue\n\n").until("HTTP/1.1 100 Continue");
      connection.send("[]").until("HTTP/1.1 400");
    }
  }

  @Test
  void aClientThatIsRefusedCannotSendWithoutEnd() throws IOException {
    gateway.restart("gateway.max-body=10kb", "gateway.request-timeout=200ms");
    try (RawConnection connection = connect()) {
      connection.send("POST " + CHAT + " HTTP/1.1\n" + HOST + "Content-Length: 1000000\n\n{");
      assertThat(connection.rest()).startsWith("HTTP/1.1 413").contains("onnection: close");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 4\nTransfer-Encoding: chunked\n",
        "Transfer-Encoding: chunked\nContent-Length: 4\n",
        "Content-Length: 4\nContent-Length: 44\n",
        "Content-Length: 4, 44\n",
        "Content-Length: +4\n",
        "Content-Length: -4\n",
        "Content-Length: 0x4\n",
        "Content-Length : 4\n",
        "Transfer-Encoding: xchunked\n",
        "Transfer-Encoding: chunked, identity\n",
        "Transfer-Encoding : chunked\n",
        "X: a\rb\nTransfer-Encoding: chunked\r\r\n"
      })
  void aRequestWhoseEndIsInDoubtIsTheLastOfItsConnection(String headers) throws IOException {
    String hidden = "GET /v1/models/hidden HTTP/1.1\n" + HOST + "\n";
    try (RawConnection connection = connect()) {
      connection.send("POST /v1/conversations HTTP/1.1\n" + HOST + headers + "\n0\n\n" + hidden);
      String response = connection.rest();
      assertThat(response).doesNotContain("model_not_found");
      assertThat(response.split("HTTP/1.1 ", -1)).as(response).hasSizeLessThanOrEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "//v1/models",
        "/v1//models",
        "/%76%31/models",
        "/health/../v1/models",
        "/health/%2e%2e/v1/models",
        "/health;/v1/models",
        "/v1/models/",
        "/V1/models",
        "/v1\\models",
        "http://localhost/v1/models",
        "/v1/models?x=%zz",
        "/v1/models#/health"
      })
  void noSpellingOfAPathNeedsNoKey(String path) throws IOException {
    Path file = directory.resolve("keys");
    Files.writeString(file, ApiKey.make("acme", List.of(), 0, 0).line().toJson());
    gateway.restart("gateway.api-keys=" + file);
    try (RawConnection connection = connect()) {
      connection.send("GET " + path + " HTTP/1.1\n" + HOST + "Connection: close\n\n");
      assertThat(connection.rest()).matches("(?s)HTTP/1.1 (400|401|404).*");
    }
  }

  @Test
  void aQueryStringThatCannotBeReadIsTheClientsError() throws IOException {
    try (RawConnection connection = connect()) {
      String path = "/v1/conversations/conv_" + "0".repeat(32) + "/items?limit=%zz";
      connection.send("GET " + path + " HTTP/1.1\n" + HOST + "Connection: close\n\n");
      assertThat(connection.rest()).startsWith("HTTP/1.1 400");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no http\n\n",
        "GET /health HTTP/1.1\nHost: localhost\nno colon\n\n",
        "GET /health HTTP/1.1\nHost: localhost\nX: \u0000\n\n",
        "\u0016\u0003\u0001\u0002\n\n"
      })
  void whatIsNotHttpIsAnErrorAndTheLastOfItsConnection(String request) throws IOException {
    try (RawConnection connection = connect()) {
      assertThat(connection.send(request).rest())
          .matches("(?s)HTTP/1\\.[01] 400 .*")
          .contains("invalid_request_error")
          .contains("onnection: close");
    }
  }

  @Test
  void headersOfPreflightsAreNotSentBackUnlessTheyAreNames() throws IOException {
    gateway.restart("gateway.cors-origins=https://chat.example");
    for (String asked : List.of("authorization, x-api-key", "a\u00e9", "a\tb", "\"<x>\"")) {
      try (RawConnection connection = connect()) {
        connection.send(
            "OPTIONS "
                + CHAT
                + " HTTP/1.1\n"
                + HOST
                + "Origin: https://chat.example\n"
                + "Connection: close\nAccess-Control-Request-Headers: "
                + asked
                + "\n\n");
        String expected = asked.startsWith("auth") ? asked : "content-type";
        assertThat(connection.rest())
            .startsWith("HTTP/1.1 204")
            .contains("access-control-allow-headers: " + expected + "\r\n");
      }
    }
  }

  @Test
  void aWebSocketIsNotServed() throws IOException {
    try (RawConnection connection = connect()) {
      connection.send(
          "GET /v1/models HTTP/1.1\n"
              + HOST
              + "Connection: Upgrade\nUpgrade: websocket\n"
              + "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n\n");
      assertThat(connection.until("\n")).doesNotContain(" 101 ").doesNotContain(" 500 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Host: localhost\nHost: localhost\n", "Host: a\nHost: b\n"})
  void aRequestWithoutOneHostIsRefused(String hosts) throws IOException {
    try (RawConnection connection = connect()) {
      connection.send("GET /health HTTP/1.1\n" + hosts + "Connection: close\n\n");
      assertThat(connection.rest()).startsWith("HTTP/1.1 400").contains("one header Host");
    }
  }

  @Test
  void anOldClientNeedsNoHost() throws IOException {
    try (RawConnection connection = connect()) {
      connection.send("GET /health HTTP/1.0\n\n");
      assertThat(connection.rest()).contains(" 200 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"zz\n{}\n0\n\n", "-1\n{}\n", "2\n{}garbage\n0\n\n", "99999999999\n{}"})
  void brokenChunksAreRefused(String chunks) throws IOException {
    try (RawConnection connection = connect()) {
      connection.send(
          "POST " + CHAT + " HTTP/1.1\n" + HOST + "Transfer-Encoding: chunked\n\n" + chunks);
      assertThat(connection.rest()).startsWith("HTTP/1.1 400").doesNotContain("HTTP/1.1 2");
    }
  }

  /** The time for requests is long: what closes the connection is the refusal. */
  @Test
  void theConnectionOfABodyThatIsTooLargeClosesPromptly() throws IOException {
    gateway.restart("gateway.max-body=10kb", "gateway.request-timeout=10min");
    try (RawConnection connection = connect()) {
      connection.send("POST " + CHAT + " HTTP/1.1\n" + HOST + "Content-Length: 1000000\n\n{");
      assertThat(connection.rest()).startsWith("HTTP/1.1 413").contains("onnection: close");
    }
    try (RawConnection connection = connect()) {
      String body = " ".repeat(20_000);
      connection.send("POST " + CHAT + " HTTP/1.1\n" + HOST + "Content-Length: 20000\n\n" + body);
      assertThat(connection.rest()).startsWith("HTTP/1.1 413").contains("request_too_large");
    }
  }

  @Test
  void aLongNameOfAModelIsNotSentBackWhole() throws IOException {
    gateway.restart("gateway.model-aliases=");
    String body =
        HELLO.replace("{\"messages", "{\"model\":\"" + "x".repeat(100_000) + "\",\"messages");
    HttpResponse<String> response = gateway.send(gateway.post(CHAT, body)).join();
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).hasSizeLessThan(1000);
  }
}
