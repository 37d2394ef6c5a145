package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.operators.record.TierTokens;
import io.radixflow.operators.record.TierUsage;
import io.radixflow.operators.record.Usage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Reads what {@link ReplyWriter} and {@link DeltaWriter} write, for clients. */
public final class RecordReader {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private RecordReader() {}

  /**
   * Reads a record of the delta topic.
   *
   * @throws IOException if it is none
   */
  public static ReplyDelta delta(byte[] value) throws IOException {
    JsonNode json = object(value);
    JsonNode answer = json.get("answer");
    return new ReplyDelta(
        text(json, "session"),
        text(json, "branch"),
        text(json, "turn"),
        json.path("choice").asInt(),
        json.path("offset").asInt(),
        json.path("token_offset").asInt(),
        json.path("tokens").asInt(),
        json.path("attempt").asLong(),
        json.path("text").asText(),
        text(json, "finish_reason"),
        usage(json.path("usage")),
        text(json.path("error"), "message"),
        answer == null ? null : reply(answer));
  }

  /**
   * Reads a record of the reply topic.
   *
   * @throws IOException if it is none
   */
  public static Reply reply(byte[] value) throws IOException {
    return reply(object(value));
  }

  private static Reply reply(JsonNode json) throws IOException {
    JsonNode choice = json.path("choices").path(0);
    String type = text(json, "type");
    EventKind kind = type == null ? null : kind(type);
    return Reply.builder(text(json, "session"), text(json, "branch"), text(json, "turn"), kind)
        .attempt(json.path("attempt").asLong())
        .text(choice.path("message").path("content").asText())
        .finishReason(text(choice, "finish_reason"))
        .usage(usage(json.path("usage")))
        .seed(json.path("seed").asLong())
        .droppedTurns(json.path("dropped_turns").asInt())
        .logprobs(logprobs(choice.get("logprobs")))
        .error(text(json.path("error"), "message"))
        .items(items(json.get("items")))
        .status(text(json, "status"))
        .created(TimeUnit.SECONDS.toMillis(json.path("created").asLong()))
        .pages(pages(json.get("pages")))
        .build();
  }

  private static Usage usage(JsonNode json) {
    return new Usage(
        json.path("prompt_tokens").asInt(),
        cached(json),
        json.path("completion_tokens").asInt(),
        tiers(json.path("prompt_tokens_details")));
  }

  private static TierUsage tiers(JsonNode json) {
    return new TierUsage(
        json.path("cached_host_tokens").asInt(),
        json.path("cached_disk_tokens").asInt(),
        json.path("cached_remote_tokens").asInt(),
        json.path("tier_micros").asLong());
  }

  private static Reply.Pages pages(JsonNode json) {
    if (json == null) {
      return null;
    }
    return new Reply.Pages(
        json.path("committed_tokens").asInt(),
        new TierTokens(
            json.path("device_tokens").asInt(),
            json.path("host_tokens").asInt(),
            json.path("disk_tokens").asInt(),
            json.path("remote_tokens").asInt()),
        TimeUnit.SECONDS.toMillis(json.path("last_used").asLong()),
        TimeUnit.SECONDS.toMillis(json.path("as_of").asLong()));
  }

  private static EventKind kind(String type) throws IOException {
    try {
      return EventKind.valueOf(type.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IOException("unknown type " + Texts.quote(type), e);
    }
  }

  private static JsonNode object(byte[] value) throws IOException {
    JsonNode json = value == null ? null : MAPPER.readTree(value);
    if (json == null || !json.isObject()) {
      throw new IOException("the record is no JSON object");
    }
    return json;
  }

  private static List<Reply.TokenLogprob> logprobs(JsonNode json) {
    if (json == null) {
      return null;
    }
    List<Reply.TokenLogprob> tokens = new ArrayList<>();
    for (JsonNode token : json.path("content")) {
      List<Reply.TopLogprob> top = new ArrayList<>();
      for (JsonNode other : token.path("top_logprobs")) {
        top.add(
            new Reply.TopLogprob(
                other.path("id").asInt(),
                text(other, "token"),
                other.path("logprob").floatValue()));
      }
      tokens.add(
          new Reply.TokenLogprob(
              token.path("id").asInt(),
              text(token, "token"),
              token.path("logprob").floatValue(),
              top));
    }
    return tokens;
  }

  private static List<Reply.Item> items(JsonNode json) {
    if (json == null) {
      return null;
    }
    List<Reply.Item> items = new ArrayList<>();
    for (JsonNode item : json) {
      items.add(
          new Reply.Item(
              text(item, "turn"),
              text(item, "role"),
              text(item, "content"),
              text(item, "finish_reason")));
    }
    return items;
  }

  private static int cached(JsonNode usage) {
    return usage.path("prompt_tokens_details").path("cached_tokens").asInt();
  }

  private static String text(JsonNode json, String field) {
    JsonNode value = json.get(field);
    return value == null || value.isNull() ? null : value.asText();
  }
}
