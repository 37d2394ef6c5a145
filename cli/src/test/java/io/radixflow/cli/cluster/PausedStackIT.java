package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code up} in a process that does not run for a while, as in a closed laptop. */
@Tag("slow")
class PausedStackIT {

  private static final Duration PATIENCE = Duration.ofSeconds(180);

  /** Longer than Flink's heartbeats, Kafka's sessions and the watch of the job once waited. */
  private static final Duration PAUSE = Duration.ofSeconds(45);

  private static final Pattern API = Pattern.compile("HTTP API +(http://\\S+)");

  private final HttpClient client = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();

  @TempDir Path dir;

  @Test
  void aPausedProcessGoesOnWithItsConversations() throws Exception {
    Path output = dir.resolve("output");
    List<String> arguments =
        List.of(
            "up", "--model", "sim", "--port", "0", "--gateway-port", "0", "--metrics-port", "0");
    try (JavaProcess up = CommandProcess.start(dir, output, List.of(), arguments)) {
      await()
          .atMost(PATIENCE)
          .failFast("it ended by itself", () -> !up.isAlive())
          .until(() -> Files.readString(output).contains("Ctrl-C stops."));
      URI responses = responses(output);
      String first = ask(responses, "{\"input\": \"hello\", \"max_output_tokens\": 4}");

      signal("STOP", up.pid());
      // nothing can be seen of a process that does not run: only time ends its pause
      TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
      signal("CONT", up.pid());

      String next =
          "{\"input\": \"go on\", \"max_output_tokens\": 4, \"previous_response_id\": \"%s\"}";
      assertThat(ask(responses, next.formatted(first))).isNotEqualTo(first);
      assertThat(up.isAlive()).isTrue();
    }
  }

  /** Returns the id of a response. */
  private String ask(URI responses, String body) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(responses)
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    JsonNode answer = json.readTree(response.body());
    return answer.path("id").asText();
  }

  private static URI responses(Path output) throws IOException {
    Matcher announced = API.matcher(Files.readString(output));
    assertThat(announced.find()).isTrue();
    return URI.create(announced.group(1) + "/responses");
  }

  private static void signal(String name, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
    assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(kill.exitValue()).isZero();
  }
}
