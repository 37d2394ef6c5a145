package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.gateway.FakeTopics;
import io.radixflow.gateway.turn.Following;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnFailure;
import io.radixflow.gateway.turn.TurnListener;
import io.radixflow.gateway.turn.TurnObserver;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Whatever is thrown, wherever it is: the client is answered, and the turn is let go. */
class EveryExchangeEndsTest {

  private static final byte[] DATA = "{\"piece\":1}".getBytes(StandardCharsets.US_ASCII);
  private static final String MESSAGE = "the gateway failed; its log says why, at request ";

  private static final AtomicInteger LET_GO = new AtomicInteger();

  private static final FakeTopics TOPICS = new FakeTopics();
  private static final Turns TURNS = new Turns(TOPICS, new PrometheusRegistry());

  /** Endpoints that throw before anything is written. */
  static final Map<String, Endpoint> WHOLE =
      Map.ofEntries(
          Map.entry("handler", exchange -> boom()),
          Map.entry("error", exchange -> deep(0)),
          Map.entry("task", exchange -> exchange.executor().execute(() -> boom())),
          Map.entry("worker", exchange -> exchange.blocking(() -> boom(), done -> {})),
          Map.entry("workers-error", exchange -> exchange.blocking(() -> deep(0), done -> {})),
          Map.entry("workers-result", exchange -> exchange.blocking(() -> 1, done -> boom())),
          Map.entry("timer", exchange -> exchange.vertx().setTimer(1, late -> boom())),
          Map.entry("stream-that-has-not-begun", EveryExchangeEndsTest::neverBegun),
          Map.entry("piece", exchange -> follow(exchange, "piece")),
          Map.entry("ended", exchange -> follow(exchange, "ended")));

  /** Endpoints that throw when an event of the stream was written. */
  static final Map<String, Endpoint> STREAMS =
      Map.of(
          "handler", exchange -> throwIn(exchange, EveryExchangeEndsTest::boom),
          "task",
              exchange ->
                  throwIn(exchange, () -> exchange.executor().execute(EveryExchangeEndsTest::boom)),
          "timer",
              exchange -> throwIn(exchange, () -> exchange.vertx().setTimer(1, late -> boom())));

  private static HttpFront front;
  private final HttpClient client = HttpClient.newHttpClient();

  private static int boom() {
    throw new IllegalStateException("injected by a test");
  }

  private static int deep(int depth) {
    return deep(depth + 1) + 1;
  }

  private static void neverBegun(Exchange exchange) {
    exchange.sse();
    boom();
  }

  private static void throwIn(Exchange exchange, Runnable thrower) {
    exchange.onGone(LET_GO::incrementAndGet);
    SseStream stream = exchange.sse();
    stream.event(null, Json.object().put("piece", 1));
    thrower.run();
  }

  /** Follows a turn with a listener that throws in one of its methods. */
  private static void follow(Exchange exchange, String thrower) {
    ConversationEvent event = ConversationEvent.message("s-" + thrower, "t", "Hello");
    TurnListener listener =
        new TurnListener() {
          @Override
          public void piece(TurnPiece piece) {
            if (thrower.equals("piece")) {
              boom();
            }
          }

          @Override
          public void ended(TurnEnd end) {
            boom();
          }

          @Override
          public void failed(TurnFailure failure) {
            boom();
          }
        };
    exchange.onGone(TURNS.start(event, exchange.following(), listener)::close);
    ConversationEvent sent = TOPICS.next();
    TOPICS.piece(sent, 0, "Hi");
    if (!thrower.equals("piece")) {
      TOPICS.end(sent, 2, "stop", Usage.NONE);
    }
  }

  @BeforeEach
  void start() throws IOException {
    LET_GO.set(0);
    Routes routes = new Routes();
    WHOLE.forEach((name, endpoint) -> routes.add(HttpMethod.POST, "/whole/" + name, endpoint));
    STREAMS.forEach((name, endpoint) -> routes.add(HttpMethod.POST, "/stream/" + name, endpoint));
    routes.add(
        HttpMethod.POST,
        "/unwritable",
        error -> {
          throw new IllegalStateException("no error can be written");
        },
        exchange -> boom());
    routes.add(HttpMethod.GET, "/served", exchange -> exchange.json(200, DATA));
    front =
        HttpFront.start(
            new SettingsLoader()
                .set(List.of("gateway.port=0", "model=sim", "gateway.body-memory=20kb"))
                .load(),
            routes,
            new HttpMetrics(new PrometheusRegistry()));
  }

  @AfterEach
  void stop() {
    front.close();
  }

  private CompletableFuture<HttpResponse<String>> post(String path) {
    return post(path, "{}");
  }

  private CompletableFuture<HttpResponse<String>> post(String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(front.uri().resolve(path))
            .timeout(Duration.ofSeconds(60))
            .header("X-Request-Id", "mine-1")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
  }

  static final List<String> WHOLE_NAMES = WHOLE.keySet().stream().sorted().toList();
  static final List<String> STREAM_NAMES = STREAMS.keySet().stream().sorted().toList();

  @ParameterizedTest
  @FieldSource("WHOLE_NAMES")
  void aThrowBeforeAnythingIsWrittenIsAnError500ThatNamesTheRequest(String name) {
    HttpResponse<String> response = post("/whole/" + name).join();
    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(response.body()).contains(MESSAGE + "mine-1").contains("\"type\":\"server_error\"");
    assertThat(response.headers().firstValue("X-Request-Id")).contains("mine-1");
    // the connection's thread lets the turn go after it wrote the answer
    await().untilAsserted(() -> assertThat(TURNS.followed()).isZero());
  }

  @ParameterizedTest
  @FieldSource("STREAM_NAMES")
  void aThrowInAStreamIsItsLastEvent(String name) {
    HttpResponse<String> response = post("/stream/" + name).join();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body())
        .startsWith("data: {\"piece\":1}\n\ndata: {\"error\":{\"message\":\"" + MESSAGE + "mine-1")
        .endsWith("}\n\n");
    // the connection's thread lets the turn go after it wrote the last byte
    await().untilAsserted(() -> assertThat(LET_GO).as("the turn is let go").hasValue(1));
  }

  @Test
  void aBodyWhoseHandlerThrowsGivesItsMemoryBack() {
    String body = " ".repeat(15_000) + "{}";
    for (int i = 0; i < 3; i++) {
      assertThat(post("/stream/handler", body).join().statusCode()).isEqualTo(200);
    }
  }

  @Test
  void anErrorThatCannotBeWrittenClosesTheConnection() {
    assertThat(post("/unwritable")).failsWithin(Duration.ofSeconds(60));
  }

  @Test
  void theServerGoesOnAfterwards() throws Exception {
    post("/whole/handler").join();
    HttpRequest request = HttpRequest.newBuilder(front.uri().resolve("/served")).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.body()).isEqualTo("{\"piece\":1}");
    assertThat(response.headers().firstValue("X-Request-Id").orElseThrow()).startsWith("req_");
  }

  /** The threads of the topics hand a turn over; one that cannot be handed over fails alone. */
  @Test
  void aTurnWhosePiecesCannotBeHandedOverFails() {
    AtomicBoolean first = new AtomicBoolean(true);
    Executor executor =
        task -> {
          if (first.getAndSet(false)) {
            boom();
          }
          task.run();
        };
    CompletableFuture<TurnFailure> failed = new CompletableFuture<>();
    TurnListener listener =
        new TurnListener() {
          @Override
          public void piece(TurnPiece piece) {}

          @Override
          public void ended(TurnEnd end) {}

          @Override
          public void failed(TurnFailure failure) {
            failed.complete(failure);
          }
        };
    ConversationEvent event = ConversationEvent.message("s", "t", "Hello");
    TURNS.start(event, new Following(executor, false, 1000, TurnObserver.NONE), listener);
    TOPICS.piece(TOPICS.next(), 0, "Hi");
    assertThat(failed.join().message()).isEqualTo("the gateway failed; its log says why");
    assertThat(TURNS.followed()).isZero();
  }
}
