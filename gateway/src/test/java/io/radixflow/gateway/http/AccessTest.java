package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.auth.ApiKey;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class AccessTest {

  private static final String PATH = "/v1/chat/completions";
  private static final String HELLO = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path directory;
  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private String key(String tenant, List<String> models, int perMinute, int concurrent)
      throws IOException {
    ApiKey.Made made = ApiKey.make(tenant, models, perMinute, concurrent);
    Path file = directory.resolve("keys");
    Files.writeString(file, made.line().toJson());
    gateway.restart("gateway.api-keys=" + file);
    return made.text();
  }

  private HttpResponse<String> get(String path, String... headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(gateway.uri(path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return gateway.send(request.build()).join();
  }

  @Test
  void aRequestWithoutAKeyIsUnauthorisedButProbesAreOpen() throws IOException {
    String key = key("acme", List.of(), 0, 0);
    HttpResponse<String> without = get("/v1/models");
    assertThat(without.statusCode()).isEqualTo(401);
    assertThat(GatewayFixture.json(without.body()).at("/error/code").asText())
        .isEqualTo("invalid_api_key");
    assertThat(without.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
    assertThat(get("/v1/models", "Authorization", "Bearer " + key + "x").statusCode())
        .isEqualTo(401);
    assertThat(get("/v1/models", "Authorization", "bearer " + key).statusCode()).isEqualTo(200);
    assertThat(get("/v1/models", "x-api-key", key).statusCode()).isEqualTo(200);
    assertThat(get("/health").statusCode()).isEqualTo(200);
    assertThat(get("/metrics").statusCode()).isEqualTo(200);
  }

  @Test
  void aKeysTenantOwnsWhatItsUserSays() throws IOException {
    String key = key("acme", List.of(), 0, 0);
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(gateway.post(PATH, HELLO, "Authorization", "Bearer " + key));
    ConversationEvent event = gateway.topics().next();
    assertThat(event.tenant()).isEqualTo("acme");
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).isEqualTo(200);
  }

  @Test
  void aModelThatTheKeyDoesNotAllowIsForbidden() throws IOException {
    String key = key("acme", List.of("other"), 0, 0);
    HttpResponse<String> response =
        gateway.send(gateway.post(PATH, HELLO, "Authorization", "Bearer " + key)).join();
    assertThat(response.statusCode()).isEqualTo(403);
  }

  @Test
  void aKeyOverItsLimitIsToldWhenToTryAgain() throws IOException {
    String key = key("acme", List.of(), 1, 0);
    assertThat(get("/v1/models", "x-api-key", key).statusCode()).isEqualTo(200);
    HttpResponse<String> over = get("/v1/models", "x-api-key", key);
    assertThat(over.statusCode()).isEqualTo(429);
    assertThat(Integer.parseInt(over.headers().firstValue("Retry-After").orElseThrow()))
        .isBetween(1, 60);
  }

  @Test
  void aRequestInProgressUsesAPermitUntilItsResponseIsComplete() throws IOException {
    String key = key("acme", List.of(), 0, 1);
    CompletableFuture<HttpResponse<String>> running =
        gateway.send(gateway.post(PATH, HELLO, "x-api-key", key));
    ConversationEvent event = gateway.topics().next();
    assertThat(get("/v1/models", "x-api-key", key).statusCode()).isEqualTo(429);
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    running.join();
    // the gateway learns a moment after the client that the response is complete
    await().atMost(PATIENCE).until(() -> get("/v1/models", "x-api-key", key).statusCode() == 200);
  }

  @Test
  void aTenantLeavesRoomForTheRequestsOfAnother() throws IOException {
    ApiKey.Made acme = ApiKey.make("acme", List.of(), 0, 0);
    ApiKey.Made beta = ApiKey.make("beta", List.of(), 0, 0);
    Path file = directory.resolve("keys");
    Files.writeString(file, acme.line().toJson() + "\n" + beta.line().toJson());
    gateway.restart("gateway.api-keys=" + file, "gateway.max-connections=4");
    for (int i = 0; i < 2; i++) {
      gateway.send(gateway.post(PATH, HELLO, "x-api-key", acme.text()));
      gateway.topics().next();
    }
    HttpResponse<String> over = get("/v1/models", "x-api-key", acme.text());
    assertThat(over.statusCode()).isEqualTo(429);
    assertThat(over.body()).contains("as many requests in progress");
    assertThat(get("/v1/models", "x-api-key", beta.text()).statusCode()).isEqualTo(200);
  }

  @Test
  void pagesOfOtherOriginsMayUseTheGatewayIfTheyAreNamed() throws IOException {
    assertThat(get("/v1/models", "Origin", "http://evil.example").statusCode()).isEqualTo(403);
    String own = gateway.uri("/").toString();
    assertThat(get("/v1/models", "Origin", own.substring(0, own.length() - 1)).statusCode())
        .isEqualTo(200);
    gateway.restart("gateway.cors-origins=https://chat.example");
    HttpResponse<String> allowed = get("/v1/models", "Origin", "https://chat.example");
    assertThat(allowed.statusCode()).isEqualTo(200);
    assertThat(allowed.headers().firstValue("access-control-allow-origin"))
        .hasValue("https://chat.example");
    HttpRequest preflight =
        HttpRequest.newBuilder(gateway.uri(PATH))
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
            .headers(
                "Origin",
                "https://chat.example",
                "Access-Control-Request-Method",
                "POST",
                "Access-Control-Request-Headers",
                "authorization,content-type")
            .build();
    HttpResponse<String> answer = gateway.send(preflight).join();
    assertThat(answer.statusCode()).isEqualTo(204);
    assertThat(answer.headers().firstValue("access-control-allow-headers"))
        .hasValue("authorization,content-type");
  }

  @Test
  void aPageOfAnotherSiteLoadsNoPartFromTheGatewayButMayLinkToIt() {
    for (String site : List.of("cross-site", "same-site")) {
      assertThat(get("/v1/models", "Sec-Fetch-Site", site).statusCode()).isEqualTo(403);
      assertThat(get("/", framed(site, "iframe")).statusCode()).isEqualTo(403);
      assertThat(get("/", framed(site, "document")).statusCode()).isEqualTo(200);
    }
    assertThat(get("/v1/models", "Sec-Fetch-Site", "same-origin").statusCode()).isEqualTo(200);
    assertThat(get("/v1/models", "Sec-Fetch-Site", "none").statusCode()).isEqualTo(200);
  }

  private static String[] framed(String site, String into) {
    return new String[] {
      "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", into
    };
  }

  @Test
  void aNameThatSomebodyHasResolveToThisMachineIsForbidden() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", gateway.uri("/").getPort())) {
      socket
          .getOutputStream()
          .write(
              "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      String response =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertThat(response).startsWith("HTTP/1.1 403");
    }
  }

  @Test
  void metricsCountRequestsByRouteAndStatus() throws IOException {
    gateway.restart("gateway.model-aliases=");
    get("/v1/models/sim");
    get("/v1/models/other");
    get("/v1/nothing");
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(get("/metrics").body())
                    .contains(
                        "radixflow_gateway_requests_total{route=\"/v1/models/{model*}\",status=\"200\"}"
                            + " 1")
                    .contains(
                        "radixflow_gateway_requests_total{route=\"/v1/models/{model*}\",status=\"404\"}"
                            + " 1")
                    .contains("radixflow_gateway_requests_total{route=\"(none)\",status=\"404\"} 1")
                    .contains("radixflow_gateway_turns_in_flight 0")
                    .contains("radixflow_gateway_open_streams 0"));
  }
}
