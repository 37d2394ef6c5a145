package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Java's HTTP client. After a failure it continues at the other gateway. */
public final class JavaClient extends HttpTarget {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final String DATA = "data: ";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT).build();
  private final List<URI> gateways;
  private int attempts;

  public JavaClient(List<URI> gateways) {
    this.gateways = List.copyOf(gateways);
  }

  @Override
  Heard hear(HttpTurn turn) throws InterruptedException {
    Hearing hearing = new Hearing(turn);
    while (!hearing.ended()) {
      try {
        attempt(turn, hearing);
      } catch (IOException e) {
        hearing.broke();
        attempts++;
        Thread.sleep(PAUSE.toMillis());
      }
    }
    return hearing.heard();
  }

  private HttpRequest.Builder request(String path) {
    return request(path, attempts);
  }

  private HttpRequest.Builder request(String path, int gateway) {
    return HttpRequest.newBuilder(gateways.get(gateway % gateways.size()).resolve(path));
  }

  private void attempt(HttpTurn turn, Hearing hearing) throws IOException, InterruptedException {
    HttpResponse<InputStream> response =
        client.send(request(turn, hearing), BodyHandlers.ofInputStream());
    try (BufferedReader body =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      if (response.statusCode() != 200) {
        hearing.refused(response.statusCode(), body.readLine());
        return;
      }
      hearing.begin(
          response.headers().firstValue("X-Radixflow-Session").orElse(null),
          response.headers().firstValue("X-Radixflow-Turn").orElse(null));
      if (!turn.body().get("stream").asBoolean()) {
        hearing.whole(MAPPER.readTree(body));
        return;
      }
      read(turn, hearing, body);
    }
  }

  private HttpRequest request(HttpTurn turn, Hearing hearing) {
    if (hearing.resumable()) {
      return request(
              "/v1/responses/%s?stream=true&starting_after=%d"
                  .formatted(hearing.id(), hearing.number()))
          .build();
    }
    return request(turn.chat() ? "/v1/chat/completions" : "/v1/responses")
        .header("Idempotency-Key", turn.key())
        .POST(BodyPublishers.ofString(turn.body().toString()))
        .build();
  }

  private void read(HttpTurn turn, Hearing hearing, BufferedReader body)
      throws IOException, InterruptedException {
    boolean mayLeave = !hearing.hasBroken();
    for (String line = body.readLine(); line != null; line = body.readLine()) {
      if (!line.startsWith(DATA)) {
        continue;
      }
      String data = line.substring(DATA.length());
      if (data.equals("[DONE]")) {
        hearing.done();
        return;
      }
      JsonNode event = MAPPER.readTree(data);
      if (!hearing.event(event)) {
        throw new IOException("the gateway ended the stream: " + data);
      }
      if (mayLeave && hearing.pieces() == turn.dropAfter()) {
        throw new IOException("the client leaves");
      }
      if (hearing.pieces() == turn.cancelAfter()) {
        cancel(hearing);
      }
    }
    throw new IOException("the stream ended before its end");
  }

  /**
   * Cancels the response at the other gateway. If that gateway is down, the reply becomes complete.
   */
  private void cancel(Hearing hearing) throws InterruptedException {
    String path = "/v1/responses/" + hearing.id() + "/cancel";
    HttpRequest cancel = request(path, attempts + 1).POST(BodyPublishers.noBody()).build();
    try {
      client.send(cancel, BodyHandlers.discarding());
    } catch (IOException gone) {
      // the reply becomes complete
    }
  }
}
