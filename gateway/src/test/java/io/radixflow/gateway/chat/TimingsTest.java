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

class TimingsTest {

  private static final Usage COUNTS = new Usage(100, 60, 4);

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> chat(String fields) {
    return gateway.send(
        gateway.post(
            "/v1/chat/completions",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]" + fields + "}"));
  }

  private CompletableFuture<HttpResponse<String>> completion(String fields) {
    return gateway.send(gateway.post("/v1/completions", "{\"prompt\":\"Hi\"" + fields + "}"));
  }

  private ConversationEvent reply() {
    return reply(gateway.topics().next());
  }

  private ConversationEvent reply(ConversationEvent event) {
    gateway.topics().timed(event, 0, "", null, COUNTS, new TurnTiming(80, 5, 10, 0));
    gateway.topics().timed(event, 0, "ab", null, COUNTS, new TurnTiming(100, 5, 20, 0));
    gateway.topics().timed(event, 2, "cd", "stop", COUNTS, new TurnTiming(100, 5, 20, 8));
    return event;
  }

  private static List<JsonNode> pieces(CompletableFuture<HttpResponse<String>> sent) {
    List<JsonNode> pieces = new ArrayList<>();
    for (String line : sent.join().body().split("\n")) {
      if (line.startsWith("data: {")) {
        pieces.add(GatewayFixture.json(line.substring("data: ".length())));
      }
    }
    return pieces;
  }

  @Test
  void aWholeReplyHasItsSpeed() {
    CompletableFuture<HttpResponse<String>> sent = chat("");
    reply();
    assertThat(GatewayFixture.json(sent.join().body()).get("timings"))
        .isEqualTo(
            GatewayFixture.json(
                "{\"cache_n\":60,\"prompt_n\":40,\"prompt_ms\":20.0,\"prompt_per_token_ms\":0.5,"
                    + "\"prompt_per_second\":2000.0,\"predicted_n\":4,\"predicted_ms\":8.0,"
                    + "\"predicted_per_token_ms\":2.0,\"predicted_per_second\":500.0}"));
  }

  @Test
  void onlyTheLastPieceOfAStreamHasTheSpeed() {
    CompletableFuture<HttpResponse<String>> sent = chat(",\"stream\":true");
    assertThat(reply().options()).isNull();
    List<JsonNode> pieces = pieces(sent);
    assertThat(pieces.stream().filter(piece -> piece.has("timings")).toList())
        .containsExactly(pieces.get(pieces.size() - 1));
    assertThat(pieces.get(pieces.size() - 1).at("/timings/predicted_ms").asInt()).isEqualTo(8);
    assertThat(pieces).noneMatch(piece -> piece.has("prompt_progress"));
  }

  @Test
  void eachPieceOfAStreamHasTheSpeedIfAsked() {
    CompletableFuture<HttpResponse<String>> sent =
        chat(",\"stream\":true,\"timings_per_token\":true");
    reply();
    List<JsonNode> pieces = pieces(sent);
    assertThat(pieces.subList(1, pieces.size())).isNotEmpty().allMatch(p -> p.has("timings"));
    assertThat(pieces.get(1).at("/timings/prompt_ms").asInt()).isEqualTo(20);
  }

  @Test
  void onlyTheEventWithTheCountsOfTokensHasTheSpeedOfTheOnlyChoice() {
    String counted = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
    CompletableFuture<HttpResponse<String>> sent = chat(counted);
    reply();
    List<JsonNode> pieces = pieces(sent);
    JsonNode last = pieces.get(pieces.size() - 1);
    assertThat(last.get("choices")).isEmpty();
    assertThat(last.at("/usage/prompt_tokens").asInt()).isEqualTo(100);
    assertThat(last.at("/timings/prompt_n").asInt()).isEqualTo(40);
    assertThat(pieces.stream().filter(piece -> piece.has("timings"))).containsExactly(last);
    CompletableFuture<HttpResponse<String>> two = chat(counted + ",\"n\":2");
    reply();
    reply();
    pieces = pieces(two);
    assertThat(pieces.get(pieces.size() - 1).has("timings")).isFalse();
    assertThat(pieces.stream().filter(piece -> piece.has("timings"))).hasSize(2);
  }

  @Test
  void aStreamShowsTheProgressOfItsPromptAfterTheRoleAndBeforeTheText() {
    CompletableFuture<HttpResponse<String>> sent =
        chat(",\"stream\":true,\"return_progress\":true");
    assertThat(reply().options().tokens().showsProgress()).isTrue();
    List<JsonNode> pieces = pieces(sent);
    assertThat(pieces.get(0).at("/choices/0/delta/role").asText()).isEqualTo("assistant");
    List<JsonNode> shown = pieces.stream().filter(each -> each.has("prompt_progress")).toList();
    assertThat(pieces.subList(1, 1 + shown.size())).isEqualTo(shown);
    assertThat(shown).allMatch(piece -> piece.at("/choices/0/delta").isEmpty());
    assertThat(shown.stream().map(piece -> piece.get("prompt_progress").toString()))
        .containsExactly(progress(60, 0), progress(80, 10), progress(100, 20));
  }

  @Test
  void aRequestThatCanBeRepeatedAlsoShowsTheProgressOfItsPrompt() {
    String body = "{\"prompt\":\"Hi\",\"stream\":true,\"return_progress\":true}";
    CompletableFuture<HttpResponse<String>> sent =
        gateway.send(gateway.post("/v1/completions", body, "Idempotency-Key", "k"));
    ConversationEvent event = gateway.topics().next();
    gateway.topics().running(gateway.topics().next(), "");
    reply(event);
    assertThat(pieces(sent).stream().filter(piece -> piece.has("prompt_progress"))).isNotEmpty();
  }

  private static String progress(int processed, int millis) {
    return "{\"total\":100,\"cache\":60,\"processed\":%d,\"time_ms\":%d}"
        .formatted(processed, millis);
  }

  @Test
  void aCompletionHasWhatAChatHas() {
    CompletableFuture<HttpResponse<String>> whole = completion(",\"return_progress\":true");
    reply();
    JsonNode answer = GatewayFixture.json(whole.join().body());
    assertThat(answer.at("/timings/predicted_n").asInt()).isEqualTo(4);
    assertThat(answer.has("prompt_progress")).isFalse();
    CompletableFuture<HttpResponse<String>> stream =
        completion(",\"stream\":true,\"return_progress\":true,\"timings_per_token\":true");
    reply();
    List<JsonNode> pieces = pieces(stream);
    assertThat(pieces.stream().filter(piece -> piece.has("prompt_progress")))
        .hasSize(3)
        .allMatch(piece -> piece.at("/choices/0/text").asText("none").isEmpty());
    assertThat(pieces.subList(3, pieces.size())).isNotEmpty().allMatch(p -> p.has("timings"));
  }

  @Test
  void aReplyWhoseTimesAreNotKnownHasNoSpeed() {
    CompletableFuture<HttpResponse<String>> sent = chat(",\"return_progress\":true");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options()).isNull();
    gateway.topics().timed(event, 0, "ab", "stop", COUNTS, null);
    assertThat(GatewayFixture.json(sent.join().body()).has("timings")).isFalse();
  }

  @Test
  void aDivisionByZeroIsNull() {
    JsonNode cached = timings(new Usage(100, 100, 1));
    assertThat(cached.get("prompt_n").asInt()).isZero();
    assertThat(cached.get("prompt_per_token_ms").isNull()).isTrue();
    assertThat(cached.get("prompt_per_second").isNull()).isTrue();
    assertThat(cached.get("predicted_per_second").isNull()).isTrue();
    assertThat(cached.get("predicted_per_token_ms").asDouble(-1)).isZero();
    JsonNode empty = timings(new Usage(2, 0, 0));
    assertThat(empty.get("predicted_n").asInt()).isZero();
    assertThat(empty.get("predicted_per_token_ms").isNull()).isTrue();
    assertThat(empty.get("prompt_per_token_ms").asDouble(-1)).isZero();
  }

  private JsonNode timings(Usage usage) {
    CompletableFuture<HttpResponse<String>> sent = chat("");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().timed(event, 0, "", "length", usage, new TurnTiming(100, 0, 0, 0));
    return GatewayFixture.json(sent.join().body()).get("timings");
  }
}
