package io.radixflow.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.client.config.SettingsLoader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A gateway over {@link FakeTopics} for each test, and an HTTP client for it. A test fails if an
 * answer or an event that it got is not as the OpenAPI document has it.
 */
public final class GatewayFixture implements BeforeEachCallback, AfterEachCallback {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final List<String> options;
  private FakeTopics topics;
  private Gateway gateway;
  private ContractClient client;

  /**
   * @param options of the gateway, {@code key=value}
   */
  public GatewayFixture(String... options) {
    this.options = List.of(options);
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    client = new ContractClient();
    start(options);
  }

  private void start(List<String> given) throws IOException {
    topics = new FakeTopics();
    List<String> all = new ArrayList<>(List.of("gateway.port=0", "model=sim"));
    all.addAll(given);
    gateway = Gateway.start(new SettingsLoader().set(all).load(), topics);
  }

  /** Starts a gateway with other options in place of the first. */
  public void restart(String... others) throws IOException {
    gateway.close();
    start(List.of(others));
  }

  /** The number of turns that are followed. */
  public int followed() {
    return gateway.followed();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    gateway.close();
    assertThat(client.problems()).as("answers that the OpenAPI document does not have").isEmpty();
  }

  public FakeTopics topics() {
    return topics;
  }

  public URI uri(String path) {
    return gateway.uri().resolve(path);
  }

  public Gateway gateway() {
    return gateway;
  }

  /** A request with a JSON body; headers alternate names and values. */
  public HttpRequest post(String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path))
            .timeout(PATIENCE)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    return headers.length == 0 ? request.build() : request.headers(headers).build();
  }

  public HttpRequest delete(String path) {
    return HttpRequest.newBuilder(uri(path)).timeout(PATIENCE).DELETE().build();
  }

  public HttpRequest get(String path) {
    return HttpRequest.newBuilder(uri(path)).timeout(PATIENCE).GET().build();
  }

  public CompletableFuture<HttpResponse<String>> send(HttpRequest request) {
    return client.send(request);
  }

  /** Sends a request whose response is read as it comes. */
  public CompletableFuture<HttpResponse<InputStream>> open(HttpRequest request) {
    return client.open(request);
  }

  public static BufferedReader lines(HttpResponse<InputStream> response) {
    return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  public static JsonNode json(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (IOException e) {
      throw new AssertionError("no JSON: " + text, e);
    }
  }
}
