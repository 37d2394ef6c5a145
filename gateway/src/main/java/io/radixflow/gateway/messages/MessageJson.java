package io.radixflow.gateway.messages;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.operators.record.Usage;
import java.io.IOException;

/**
 * Writes a message and the events of its stream.
 *
 * @param id the message's id
 * @param model the model's name
 * @param cacheControl whether the request asked for caching, so that what was not cached counts as
 *     written to the cache
 */
record MessageJson(String id, String model, boolean cacheControl) {

  /** The whole message. */
  byte[] message(String text, TurnEnd end) {
    return Json.write(json -> message(json, text, end, end.usage()));
  }

  /** The first event of a stream; the counts of the prompt come with the last. */
  byte[] start() {
    return event(
        "message_start",
        json -> {
          json.writeObjectFieldStart("message");
          message(json, null, null, Usage.NONE);
          json.writeEndObject();
        });
  }

  private void message(JsonGenerator json, String text, TurnEnd end, Usage usage)
      throws IOException {
    json.writeStringField("id", id);
    json.writeStringField("type", "message");
    json.writeStringField("role", "assistant");
    json.writeStringField("model", model);
    json.writeArrayFieldStart("content");
    if (text != null) {
      json.writeStartObject();
      json.writeStringField("type", "text");
      json.writeStringField("text", text);
      json.writeEndObject();
    }
    json.writeEndArray();
    stop(json, end);
    usage(json, usage);
  }

  /** Begins the text. */
  static byte[] blockStart() {
    return event(
        "content_block_start",
        json -> {
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("content_block");
          json.writeStringField("type", "text");
          json.writeStringField("text", "");
          json.writeEndObject();
        });
  }

  static byte[] ping() {
    return event("ping", json -> {});
  }

  /** A piece of the text. */
  static byte[] blockDelta(String text) {
    return event(
        "content_block_delta",
        json -> {
          json.writeNumberField("index", 0);
          json.writeObjectFieldStart("delta");
          json.writeStringField("type", "text_delta");
          json.writeStringField("text", text);
          json.writeEndObject();
        });
  }

  static byte[] blockStop() {
    return event("content_block_stop", json -> json.writeNumberField("index", 0));
  }

  /** Why the message ended, and its counts of tokens. */
  byte[] delta(TurnEnd end) {
    return event(
        "message_delta",
        json -> {
          json.writeObjectFieldStart("delta");
          stop(json, end);
          json.writeEndObject();
          usage(json, end.usage());
        });
  }

  static byte[] stop() {
    return event("message_stop", json -> {});
  }

  private static byte[] event(String type, Json.Fields fields) {
    return Json.write(
        json -> {
          json.writeStringField("type", type);
          fields.write(json);
        });
  }

  /**
   * Writes why the message ended. A reply that was cut has no word of its own: it ends as one that
   * reached its limit.
   *
   * @param end null while the message goes on
   */
  private static void stop(JsonGenerator json, TurnEnd end) throws IOException {
    String reason = null;
    if (end != null) {
      String stopped = end.stopReason() == null ? "end_turn" : "stop_sequence";
      reason = end.finishReason().equals("stop") ? stopped : "max_tokens";
    }
    json.writeStringField("stop_reason", reason);
    json.writeStringField("stop_sequence", end == null ? null : end.stopReason());
  }

  private void usage(JsonGenerator json, Usage usage) throws IOException {
    int rest = usage.promptTokens() - usage.cachedTokens();
    json.writeObjectFieldStart("usage");
    json.writeNumberField("input_tokens", cacheControl ? 0 : rest);
    json.writeNumberField("cache_creation_input_tokens", cacheControl ? rest : 0);
    json.writeNumberField("cache_read_input_tokens", usage.cachedTokens());
    json.writeNumberField("output_tokens", usage.completionTokens());
    json.writeEndObject();
  }
}
