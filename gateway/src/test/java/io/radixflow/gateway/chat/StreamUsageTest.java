package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamUsageTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String TEXT = "/v1/completions";
  private static final String EACH =
      "\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> stream(String path, String fields) {
    String input =
        path.equals(CHAT)
            ? "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"
            : "\"prompt\":\"Hi\"";
    return gateway.send(gateway.post(path, "{" + input + ",\"stream\":true," + fields + "}"));
  }

  private void reply(int prompt, int tokens) {
    ConversationEvent event = gateway.topics().next();
    Usage counts = new Usage(prompt, 2, tokens);
    gateway.topics().timed(event, 0, "ab", null, counts, new TurnTiming(prompt, 5, 20, 0));
    gateway.topics().timed(event, 2, "cd", "stop", counts, new TurnTiming(prompt, 5, 20, 8));
  }

  private static List<JsonNode> chunks(CompletableFuture<HttpResponse<String>> sent) {
    assertThat(sent.join().headers().firstValue("X-Radixflow-Ignored")).isEmpty();
    List<JsonNode> chunks = new ArrayList<>();
    for (String line : sent.join().body().split("\n")) {
      if (line.startsWith("data: {")) {
        chunks.add(GatewayFixture.json(line.substring("data: ".length())));
      }
    }
    return chunks;
  }

  @ParameterizedTest
  @ValueSource(strings = {CHAT, TEXT})
  void eachPieceHasTheCountsSoFarAndTheLastEventHasAllCounts(String path) {
    CompletableFuture<HttpResponse<String>> sent = stream(path, EACH + ",\"return_progress\":true");
    reply(7, 4);
    List<JsonNode> chunks = chunks(sent);
    int before = 0;
    for (JsonNode chunk : chunks) {
      JsonNode usage = chunk.get("usage");
      int tokens = usage.get("completion_tokens").asInt();
      assertThat(usage.get("prompt_tokens").asInt()).isEqualTo(7);
      assertThat(usage.get("total_tokens").asInt()).isEqualTo(7 + tokens);
      assertThat(tokens).isGreaterThanOrEqualTo(before);
      before = tokens;
    }
    assertThat(chunks.get(0).at("/usage/completion_tokens").asInt()).isZero();
    JsonNode ended = chunks.get(chunks.size() - 2);
    assertThat(ended.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(ended.at("/usage/completion_tokens").asInt()).isEqualTo(4);
    assertThat(chunks.get(chunks.size() - 1).get("choices")).isEmpty();
    assertThat(chunks.get(chunks.size() - 1).at("/usage/completion_tokens").asInt()).isEqualTo(4);
  }

  @Test
  void aPieceHasTheCountsOfItsOwnChoice() {
    CompletableFuture<HttpResponse<String>> sent = stream(CHAT, EACH + ",\"n\":2");
    reply(7, 4);
    reply(7, 9);
    List<JsonNode> chunks = chunks(sent);
    for (JsonNode chunk : chunks) {
      if (chunk.at("/choices/0/finish_reason").isTextual()) {
        assertThat(chunk.at("/usage/completion_tokens").asInt())
            .isEqualTo(chunk.at("/choices/0/index").asInt() == 0 ? 4 : 9);
      }
    }
    assertThat(chunks.get(chunks.size() - 1).at("/usage/completion_tokens").asInt()).isEqualTo(13);
  }

  @Test
  void withoutIncludeUsageThereAreNoCounts() {
    CompletableFuture<HttpResponse<String>> sent =
        stream(TEXT, "\"stream_options\":{\"continuous_usage_stats\":true}");
    reply(7, 4);
    assertThat(chunks(sent)).isNotEmpty().noneMatch(chunk -> chunk.has("usage"));
  }
}
