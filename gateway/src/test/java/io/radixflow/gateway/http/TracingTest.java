package io.radixflow.gateway.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.TraceContext;
import io.radixflow.protocol.record.Usage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.util.HexFormat;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A collector of this test gets what the gateway exports when it is closed. */
class TracingTest {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String SPAN = "00f067aa0ba902b7";
  private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";
  private static final Usage USAGE = new Usage(30, 16, 3);

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private final BlockingQueue<String> exported = new LinkedBlockingQueue<>();
  private HttpServer collector;

  @BeforeEach
  void start() throws IOException {
    collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/traces",
        exchange -> {
          exported.add(new String(exchange.getRequestBody().readAllBytes(), ISO_8859_1));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    gateway.restart("gateway.otlp-endpoint=http://127.0.0.1:" + collector.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    collector.stop(0);
  }

  private static String bytes(String hex) {
    return new String(HexFormat.of().parseHex(hex), ISO_8859_1);
  }

  /** An attribute with a count below 128 as OTLP encodes it. */
  private static String count(String name, int value) {
    return name + "\u0012\u0002\u0018" + (char) value;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "/v1/chat/completions | chat | 'messages':[{'role':'user','content':'Hi'}]",
        "/v1/chat/completions | chat | 'messages':[{'role':'user','content':'Hi'}],'stream':true",
        "/v1/completions | text_completion | 'prompt':'Hi'",
        "/v1/responses | chat | 'input':'Hi'",
        "/v1/messages | chat | 'messages':[{'role':'user','content':'Hi'}],'max_tokens':5"
      })
  void aRequestIsASpanOfItsClientsTraceAndTheParentOfItsTurn(
      String path, String operation, String fields) throws Exception {
    String body = "{'model':'sim',%s}".formatted(fields).replace('\'', '"');
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(gateway.post(path, body, "traceparent", PARENT, "tracestate", "a=b"));
    ConversationEvent event = gateway.topics().next();
    TraceContext trace = event.origin().trace();
    assertThat(trace.traceparent()).startsWith("00-" + TRACE + "-").endsWith("-01");
    assertThat(trace.traceparent()).doesNotContain(SPAN);
    assertThat(trace.tracestate()).isEqualTo("a=b");
    gateway.topics().piece(event, 0, "Hello");
    gateway.topics().end(event, 5, "stop", USAGE);
    assertThat(response.join().statusCode()).isEqualTo(200);

    gateway.restart();
    String spans = exported.poll(60, TimeUnit.SECONDS);
    assertThat(spans)
        .contains(bytes(TRACE), bytes(SPAN), bytes(trace.traceparent().substring(36, 52)))
        .contains("radixflow-gateway", "POST " + path, "http.route", "http.response.status_code")
        .contains("gen_ai.operation.name\u0012" + text(operation))
        .contains("gen_ai.request.model\u0012" + text("sim"))
        .contains(count("gen_ai.usage.input_tokens", 30))
        .contains(count("gen_ai.usage.output_tokens", 3))
        .contains("gen_ai.first_token", "gen_ai.response.finish_reasons")
        .contains(event.session(), event.turn())
        .doesNotContain("Hello");
  }

  /** A text as the value of an attribute. */
  private static String text(String value) {
    return (char) (value.length() + 2) + "\n" + (char) value.length() + value;
  }

  @Test
  void aRequestThatIsRefusedIsASpanAndProbesAreNone() throws Exception {
    assertThat(gateway.send(gateway.get("/health")).join().statusCode()).isEqualTo(200);
    assertThat(gateway.send(gateway.post("/v1/chat/completions", "{}")).join().statusCode())
        .isEqualTo(400);
    gateway.restart();
    assertThat(exported.poll(60, TimeUnit.SECONDS))
        .contains("POST /v1/chat/completions", "error.type\u0012" + text("400"))
        .doesNotContain("/health");
    assertThat(exported).isEmpty();
  }

  @Test
  void withoutACollectorTheClientsTraceIsPassedOn() throws Exception {
    gateway.restart();
    gateway.send(gateway.post("/v1/responses", "{\"input\":\"Hi\"}", "traceparent", PARENT));
    assertThat(gateway.topics().next().origin().trace().traceparent()).isEqualTo(PARENT);
  }

  @Test
  void aCollectorThatIsNotThereDoesNoHarm() throws Exception {
    collector.stop(0);
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(gateway.post("/v1/responses", "{\"input\":\"Hi\"}"));
    gateway.topics().end(gateway.topics().next(), 0, "stop", USAGE);
    assertThat(response.join().statusCode()).isEqualTo(200);
    assertThat(exported).isEmpty();
  }
}
