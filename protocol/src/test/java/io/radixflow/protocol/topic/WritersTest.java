package io.radixflow.protocol.topic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.event.Schemas;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.Item;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WritersTest {

  private static final TokenLogprob TOKEN =
      new TokenLogprob(
          5,
          "hi",
          -0.25f,
          List.of(new TopLogprob(9, "\uFFFD", Float.NEGATIVE_INFINITY, List.of(0xf0))));

  private final ReplyLimiter writer = new ReplyLimiter(ReplyLimiter.MIN_BYTES);

  @Test
  void aReplyHasTheShapeOfTheOpenAiApi() {
    byte[] json = writer.write(reply("hi \uD83D\uDE00 \uD800", List.of(TOKEN), null, null));
    assertThat(Schemas.check(Schemas.REPLY, json)).isEmpty();
    JsonNode tree = Schemas.tree(json);
    assertThat(tree.at("/choices/0/message/content").textValue())
        .isEqualTo("hi \uD83D\uDE00 \uFFFD");
    assertThat(tree.at("/choices/0/finish_reason").textValue()).isEqualTo("stop");
    assertThat(tree.at("/usage/total_tokens").intValue()).isEqualTo(19);
    assertThat(tree.at("/usage/prompt_tokens_details/cached_tokens").intValue()).isEqualTo(4);
    assertThat(tree.at("/choices/0/logprobs/content/0/top_logprobs/0/logprob").intValue())
        .isEqualTo(-9999);
    assertThat(tree.get("created").longValue()).isEqualTo(1_700_000_000L);
  }

  @Test
  void aQueryHasItemsAndStatusAndARejectionItsError() {
    List<Item> items =
        List.of(
            new Item("t", "user", "hi"),
            new Item("t", new Message("assistant", "yo"), "stop", null, null));
    byte[] query = writer.write(reply("", null, items, null));
    assertThat(Schemas.check(Schemas.REPLY, query)).isEmpty();
    assertThat(Schemas.tree(query).at("/items/1/content").textValue()).isEqualTo("yo");
    byte[] rejection = writer.write(reply("", null, null, "seed is a string"));
    assertThat(Schemas.check(Schemas.REPLY, rejection)).isEmpty();
    assertThat(Schemas.tree(rejection).at("/error/message").textValue())
        .isEqualTo("seed is a string");
  }

  @Test
  void aReplyThatIsTooLargeLosesLogProbabilitiesFirst() {
    byte[] json = writer.write(reply("short", Collections.nCopies(1000, TOKEN), null, null));
    assertThat(Schemas.check(Schemas.REPLY, json)).isEmpty();
    JsonNode tree = Schemas.tree(json);
    assertThat(tree.at("/choices/0/message/content").textValue()).isEqualTo("short");
    assertThat(tree.at("/choices/0/logprobs").isMissingNode()).isTrue();
    assertThat(tree.get("truncated").toString()).isEqualTo("[\"logprobs\",\"items\",\"messages\"]");
  }

  @Test
  void aReplyNeverExceedsItsLimit() {
    ReplyLimiter larger = new ReplyLimiter(2 * ReplyLimiter.MIN_BYTES);
    for (String text : List.of("\u0001".repeat(100_000), "\uD83D\uDE00".repeat(50_000))) {
      byte[] json = larger.write(reply(text, null, null, "e".repeat(100_000)));
      assertThat(json.length).isLessThanOrEqualTo(2 * ReplyLimiter.MIN_BYTES);
      assertThat(Schemas.check(Schemas.REPLY, json)).isEmpty();
      assertThat(text).startsWith(Schemas.tree(json).at("/choices/0/message/content").textValue());
    }
  }

  @Test
  void theStateOfATurnLosesItsMessagesFirstAndTheEndOfItsTextLast() {
    ReplyLimiter limiter = new ReplyLimiter(2 * ReplyLimiter.MIN_BYTES);
    String endless = "\u0001".repeat(100_000);
    JsonNode noMessages = Schemas.tree(limiter.write(turnState(endless, "short")));
    assertThat(noMessages.at("/turn_state/messages").isMissingNode()).isTrue();
    assertThat(noMessages.at("/turn_state/text").textValue()).isEqualTo("short");
    assertThat(noMessages.at("/turn_state/metadata/k").textValue()).isEqualTo("v");
    byte[] json = limiter.write(turnState("short", endless));
    assertThat(json.length).isLessThanOrEqualTo(2 * ReplyLimiter.MIN_BYTES);
    assertThat(Schemas.check(Schemas.REPLY, json)).isEmpty();
    assertThat(endless).startsWith(Schemas.tree(json).at("/turn_state/text").textValue());
    assertThat(Schemas.tree(json).get("truncated").toString()).contains("content");
  }

  private static Reply turnState(String message, String text) {
    return Reply.builder("s", "main", "q", EventKind.QUERY)
        .turnState(
            new Reply.TurnState(
                "t",
                "done",
                "main",
                "",
                1_700_000_000_123L,
                1_700_000_003_000L,
                Map.of("k", "v"),
                List.of(new Message("user", message)),
                text,
                null,
                "stop",
                "END",
                new Usage(10, 4, 9),
                null))
        .build();
  }

  @Test
  void aDeltaHasItsCountsAndTheLastItsFinishReason() {
    byte[] piece = DeltaWriter.write(delta(null));
    assertThat(Schemas.check(Schemas.DELTA, piece)).isEmpty();
    assertThat(Schemas.tree(piece).has("finish_reason")).isFalse();
    assertThat(Schemas.tree(piece).at("/usage/completion_tokens").intValue()).isEqualTo(9);
    byte[] last = DeltaWriter.write(delta("length"));
    assertThat(Schemas.check(Schemas.DELTA, last)).isEmpty();
    assertThat(Schemas.tree(last).at("/usage/completion_tokens").intValue()).isEqualTo(9);
  }

  @Test
  void theOnlyDeltaOfARejectedTurnSaysWhy() {
    byte[] json = DeltaWriter.write(ReplyDelta.last(reply("", null, null, "no room")));
    assertThat(Schemas.check(Schemas.DELTA, json)).isEmpty();
    assertThat(Schemas.tree(json).at("/error/message").textValue()).isEqualTo("no room");
  }

  @Test
  void theDeltaOfAQueryHasTheAnswerButNotItemsThatAreTooLong() {
    for (int count : new int[] {1, 100}) {
      List<Item> items = Collections.nCopies(count, new Item("t", "user", "x".repeat(8_000)));
      Reply answer =
          Reply.builder("s", "main", "q", EventKind.QUERY).items(items).status("warm").build();
      byte[] json = DeltaWriter.write(ReplyDelta.last(answer));
      assertThat(Schemas.check(Schemas.DELTA, json)).isEmpty();
      assertThat(json.length).isLessThan(DeltaWriter.MAX_ANSWER_BYTES + 1_000);
      assertThat(Schemas.tree(json).at("/answer/status").textValue()).isEqualTo("warm");
      assertThat(Schemas.tree(json).at("/answer/items").isMissingNode()).isEqualTo(count > 1);
    }
  }

  @Test
  void aDeadLetterSaysWhereItWasReadAndWhetherItWasCut() {
    ObjectNode headers = Schemas.MAPPER.createObjectNode();
    DeadLetter letter =
        new DeadLetter("in", 1, 2L, 3L, null, new byte[10], 20, "the event is not a JSON object");
    DeadLetterWriter.headers(letter)
        .forEach((name, value) -> headers.put(name, new String(value, UTF_8)));
    assertThat(Schemas.DEAD_LETTER.validate(headers)).isEmpty();
    assertThat(headers.get("radixflow.original-bytes").textValue()).isEqualTo("20");
    assertThat(headers.get("radixflow.offset").textValue()).isEqualTo("2");
  }

  private static Reply reply(
      String text, List<TokenLogprob> logprobs, List<Item> items, String error) {
    Reply.Pages pages =
        new Reply.Pages(
            2_000, new TierTokens(160, 320, 480, 640), 1_700_000_000_123L, 1_700_000_001_000L);
    return Reply.builder("s", "main", "t", EventKind.MESSAGE)
        .attempt(7)
        .text(text)
        .usage(new Usage(10, 4, 9))
        .seed(-5)
        .logprobs(logprobs)
        .error(error == null ? null : ReplyError.invalid(error))
        .items(items)
        .status(items == null ? null : "cold")
        .created(1_700_000_000_123L)
        .pages(items == null ? null : pages)
        .build();
  }

  private static ReplyDelta delta(String finish) {
    return new ReplyDelta("s", "main", "t", 0, 3, 2, 1, 7, "hi", finish, new Usage(10, 4, 9));
  }
}
