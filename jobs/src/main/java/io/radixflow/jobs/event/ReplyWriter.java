package io.radixflow.jobs.event;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Reply;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Writes replies as {@code schema/reply.schema.json} has them, within a size: a record that the
 * broker refuses would stop the job. A reply that is too large loses its log probabilities and
 * items first and the end of its text last; {@code truncated} names what is missing.
 */
public final class ReplyWriter implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The least limit that holds any reply without its text: ids, usage and an error. */
  public static final int MIN_BYTES = 16 * 1024;

  /** What the JSON has for a log probability of minus infinity, as the OpenAI API does. */
  private static final float NO_CHANCE = -9999f;

  private static final int MAX_ERROR = 512;

  private final int maxBytes;

  /**
   * @param maxBytes largest value; at least {@link #MIN_BYTES}
   */
  public ReplyWriter(int maxBytes) {
    if (maxBytes < MIN_BYTES) {
      throw new IllegalArgumentException("at least " + MIN_BYTES + " bytes, not " + maxBytes);
    }
    this.maxBytes = maxBytes;
  }

  /** The record's value. */
  public byte[] write(Reply reply) {
    byte[] whole = write(reply, List.of());
    if (whole.length <= maxBytes) {
      return whole;
    }
    byte[] bare = write(bare(reply, reply.text()), List.of("logprobs", "items"));
    if (bare.length <= maxBytes) {
      return bare;
    }
    String text = Texts.wellFormed(reply.text());
    // a UTF-16 unit takes at most 6 bytes in JSON
    int units = Math.min(text.length(), (maxBytes - MIN_BYTES) / 6);
    if (units > 0 && Character.isHighSurrogate(text.charAt(units - 1))) {
      units--;
    }
    return write(bare(reply, text.substring(0, units)), List.of("logprobs", "items", "content"));
  }

  private static Reply bare(Reply r, String text) {
    String error =
        r.error() == null || r.error().length() <= MAX_ERROR
            ? r.error()
            : r.error().substring(0, MAX_ERROR);
    return r.toBuilder().text(text).logprobs(null).error(error).items(null).build();
  }

  private static byte[] write(Reply reply, List<String> truncated) {
    return JsonBytes.object(
        json -> {
          JsonBytes.text(json, "session", reply.session());
          JsonBytes.text(json, "branch", reply.branch());
          JsonBytes.text(json, "turn", reply.turn());
          JsonBytes.type(json, reply.kind());
          json.writeNumberField("attempt", reply.attempt());
          json.writeNumberField("created", TimeUnit.MILLISECONDS.toSeconds(reply.created()));
          choice(json, reply);
          JsonBytes.usage(json, reply.usage());
          json.writeNumberField("seed", reply.seed());
          json.writeNumberField("dropped_turns", reply.droppedTurns());
          JsonBytes.error(json, reply.error());
          if (reply.items() != null) {
            items(json, reply.items());
          }
          JsonBytes.text(json, "status", reply.status());
          if (reply.pages() != null) {
            pages(json, reply.pages());
          }
          if (!truncated.isEmpty()) {
            json.writeArrayFieldStart("truncated");
            for (String name : truncated) {
              json.writeString(name);
            }
            json.writeEndArray();
          }
        });
  }

  private static void choice(JsonGenerator json, Reply reply) throws IOException {
    json.writeArrayFieldStart("choices");
    json.writeStartObject();
    json.writeNumberField("index", 0);
    json.writeObjectFieldStart("message");
    json.writeStringField("role", "assistant");
    json.writeStringField("content", Texts.wellFormed(reply.text() == null ? "" : reply.text()));
    json.writeEndObject();
    json.writeStringField("finish_reason", reply.finishReason());
    if (reply.logprobs() != null) {
      json.writeObjectFieldStart("logprobs");
      json.writeArrayFieldStart("content");
      for (Reply.TokenLogprob token : reply.logprobs()) {
        json.writeStartObject();
        logprob(json, token.id(), token.token(), token.logprob());
        json.writeArrayFieldStart("top_logprobs");
        for (Reply.TopLogprob top : token.top()) {
          json.writeStartObject();
          logprob(json, top.id(), top.token(), top.logprob());
          json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndObject();
    json.writeEndArray();
  }

  private static void logprob(JsonGenerator json, int id, String token, float logprob)
      throws IOException {
    json.writeNumberField("id", id);
    JsonBytes.text(json, "token", token);
    json.writeNumberField("logprob", Float.isFinite(logprob) ? logprob : NO_CHANCE);
  }

  private static void pages(JsonGenerator json, Reply.Pages pages) throws IOException {
    json.writeObjectFieldStart("pages");
    json.writeNumberField("committed_tokens", pages.committedTokens());
    json.writeNumberField("device_tokens", pages.tokens().device());
    json.writeNumberField("host_tokens", pages.tokens().host());
    json.writeNumberField("disk_tokens", pages.tokens().disk());
    json.writeNumberField("remote_tokens", pages.tokens().remote());
    if (pages.lastUsed() > 0) {
      json.writeNumberField("last_used", TimeUnit.MILLISECONDS.toSeconds(pages.lastUsed()));
    }
    if (pages.asOf() > 0) {
      json.writeNumberField("as_of", TimeUnit.MILLISECONDS.toSeconds(pages.asOf()));
    }
    json.writeEndObject();
  }

  private static void items(JsonGenerator json, List<Reply.Item> items) throws IOException {
    json.writeArrayFieldStart("items");
    for (Reply.Item item : items) {
      json.writeStartObject();
      JsonBytes.text(json, "turn", item.turn());
      JsonBytes.text(json, "role", item.role());
      JsonBytes.text(json, "content", item.content());
      JsonBytes.text(json, "finish_reason", item.finishReason());
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
