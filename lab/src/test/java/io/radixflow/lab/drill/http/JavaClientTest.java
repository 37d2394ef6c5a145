package io.radixflow.lab.drill.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A gateway whose connections break, and a gateway whose connections do not. */
class JavaClientTest {

  private static final String PIECE =
      "data: {\"type\": \"response.output_text.delta\", \"sequence_number\": %d, \"delta\":"
          + " \"%s\"}\n\n";
  private static final String WHOLE =
      "data: {\"type\": \"%s\", \"sequence_number\": %d, \"response\": {\"id\": \"resp_1\","
          + " \"status\": \"completed\", \"output\": [{\"content\": [{\"text\": \"abcd\"}]}]}}\n\n";
  private static final String OTHER = "data: {\"type\": \"other\", \"sequence_number\": %d}\n\n";
  private static final String CHUNK =
      "data: {\"id\": \"c\", \"choices\": [{\"delta\": {\"content\": \"%s\"},"
          + " \"finish_reason\": %s}]}\n\n";

  private final List<String> asked = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private HttpServer server;
  private JavaClient client;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    int port = server.getAddress().getPort();
    client = new JavaClient(List.of(URI.create("http://127.0.0.1:" + port + "/")));
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  /** Sends the next answer; one that does not end with DONE is cut off. */
  private synchronized void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
    asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + key);
    String answer = answers.remove(0);
    exchange.getResponseHeaders().add("X-Radixflow-Session", "s");
    exchange.getResponseHeaders().add("X-Radixflow-Turn", "t");
    exchange.sendResponseHeaders(answer.isEmpty() ? 503 : 200, 0);
    exchange.getResponseBody().write(answer.getBytes(UTF_8));
    exchange.close();
  }

  private Heard send(boolean chat) throws InterruptedException {
    HttpScript.Step step = new HttpScript.Step("Ahoy", -1, TurnForm.FREE, 0, null, 9, true, -1, -1);
    return client.hear(HttpTurn.of(new HttpScript("n", chat, List.of(step)), 0, Map.of()));
  }

  @Test
  void aResponseIsResumedAfterItsLastNumber() throws Exception {
    String opening = WHOLE.formatted("response.created", 0) + OTHER.formatted(1);
    answers.add("");
    answers.add(opening + OTHER.formatted(2) + OTHER.formatted(3) + PIECE.formatted(5, "ab"));
    answers.add(
        PIECE.formatted(7, "cd")
            + (OTHER.formatted(8) + OTHER.formatted(9) + OTHER.formatted(10))
            + (WHOLE.formatted("response.completed", 11) + "data: [DONE]\n\n"));

    Heard heard = send(false);
    assertThat(heard.faults()).isEmpty();
    assertThat(heard.text()).isEqualTo("abcd");
    assertThat(heard.finish()).isEqualTo("stop");
    assertThat(heard.session() + heard.turn() + heard.id()).isEqualTo("stresp_1");
    assertThat(heard.waits()).hasSize(2);
    assertThat(asked)
        .containsExactly(
            "POST /v1/responses n-0",
            "POST /v1/responses n-0",
            "GET /v1/responses/resp_1?stream=true&starting_after=5 null");
  }

  @Test
  void aChatIsSentAgain() throws Exception {
    answers.add(CHUNK.formatted("ab", "null"));
    answers.add(
        CHUNK.formatted("abc", "null") + CHUNK.formatted("d", "\"length\"") + "data: [DONE]\n\n");

    Heard heard = send(true);
    assertThat(heard.faults()).isEmpty();
    assertThat(heard.text()).isEqualTo("abcd");
    assertThat(heard.finish()).isEqualTo("length");
    assertThat(asked).containsOnly("POST /v1/chat/completions n-0").hasSize(2);
  }
}
