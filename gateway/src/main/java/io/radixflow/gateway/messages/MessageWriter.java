package io.radixflow.gateway.messages;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ReplyWriter;
import io.radixflow.gateway.api.UsageJson;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.turn.ReplyBlock;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.JsonValues;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Writes a message and the events of its stream.
 *
 * @param id the message's id
 * @param model the model's name
 * @param cacheControl whether the request asked for caching; then tokens that were not cached count
 *     as written to the cache
 */
record MessageWriter(String id, String model, boolean cacheControl) implements ReplyWriter {

  /**
   * The key for arguments that are not a JSON object, or that clients could not send back as an
   * object. Anthropic documents this key.
   */
  static final String INVALID_JSON = "INVALID_JSON";

  @Override
  public String promptField() {
    return "messages";
  }

  @Override
  public byte[] whole(List<TurnMessage> replies, List<TurnEnd> ends) {
    TurnEnd end = ends.get(0);
    return Json.write(
        json -> {
          message(json, replies.get(0), end, end.usage());
          end.writeWarnings(json);
        });
  }

  /**
   * Returns the first event of a stream.
   *
   * @param counts token counts of the prompt and of the reply so far
   */
  byte[] start(Usage counts) {
    return event(
        "message_start",
        json -> {
          json.writeObjectFieldStart("message");
          message(json, null, null, counts);
          json.writeEndObject();
        });
  }

  private void message(JsonGenerator json, TurnMessage reply, TurnEnd end, Usage usage)
      throws IOException {
    json.writeStringField("id", id);
    json.writeStringField("type", "message");
    json.writeStringField("role", "assistant");
    json.writeStringField("model", model);
    json.writeArrayFieldStart("content");
    if (reply != null) {
      blocks(json, reply, !end.finishReason().equals("tool_calls"));
    }
    json.writeEndArray();
    stop(json, end);
    usage(json, usage);
  }

  private void blocks(JsonGenerator json, TurnMessage reply, boolean cut) throws IOException {
    boolean says = false;
    for (ReplyBlock block : ReplyBlock.of(reply.message(), reply.order())) {
      says |= !block.part().isReasoning();
      if (block.call() != null) {
        toolUse(json, block.call(), cut);
      } else if (block.part().isReasoning()) {
        thinking(json, block.text(), id);
      } else {
        text(json, block.text());
      }
    }
    if (!says) {
      text(json, "");
    }
  }

  private static void text(JsonGenerator json, String text) throws IOException {
    json.writeStartObject();
    json.writeStringField("type", "text");
    json.writeStringField("text", text);
    json.writeEndObject();
  }

  /**
   * @param signature a text that clients send back with the block; the gateway ignores it
   */
  private static void thinking(JsonGenerator json, String text, String signature)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("type", "thinking");
    json.writeStringField("thinking", text);
    json.writeStringField("signature", signature);
    json.writeEndObject();
  }

  /**
   * Writes a call. Arguments that are not a JSON object become a text in an object, so that the
   * client can report them. Cut arguments are left out.
   */
  private static void toolUse(JsonGenerator json, ToolCall call, boolean cut) throws IOException {
    json.writeStartObject();
    json.writeStringField("type", "tool_use");
    json.writeStringField("id", call.id());
    json.writeStringField("name", call.name());
    json.writeFieldName("input");
    boolean whole = JsonValues.object(call.arguments()) != null && Json.canReturn(call.arguments());
    boolean broken = !whole && !cut && !call.arguments().isBlank();
    String shown = broken ? JsonValues.write(Map.of(INVALID_JSON, call.arguments())) : "{}";
    json.writeRawValue(whole ? call.arguments() : shown);
    json.writeEndObject();
  }

  /**
   * Returns the event that begins a block.
   *
   * @param name name of the function, if the block is a call
   */
  byte[] blockStart(int index, TurnPart part, String name) {
    return event(
        "content_block_start",
        json -> {
          json.writeNumberField("index", index);
          json.writeFieldName("content_block");
          if (part.isContent()) {
            text(json, "");
          } else if (part.isReasoning()) {
            thinking(json, "", "");
          } else {
            toolUse(json, new ToolCall(part.id(), name, "{}"), false);
          }
        });
  }

  static byte[] ping() {
    return event("ping", json -> {});
  }

  /** Returns the event for a piece of a block. */
  static byte[] blockDelta(int index, TurnPart part, String text) {
    if (part.isContent()) {
      return blockDelta(index, "text_delta", "text", text);
    }
    return part.isReasoning()
        ? blockDelta(index, "thinking_delta", "thinking", text)
        : blockDelta(index, "input_json_delta", "partial_json", text);
  }

  /** Returns the event with the signature of a thinking block. */
  byte[] signature(int index) {
    return blockDelta(index, "signature_delta", "signature", id);
  }

  private static byte[] blockDelta(int index, String type, String field, String text) {
    return event(
        "content_block_delta",
        json -> {
          json.writeNumberField("index", index);
          json.writeObjectFieldStart("delta");
          json.writeStringField("type", type);
          json.writeStringField(field, text);
          json.writeEndObject();
        });
  }

  static byte[] blockStop(int index) {
    return event("content_block_stop", json -> json.writeNumberField("index", index));
  }

  /** Returns the event with the stop reason and the token counts of the message. */
  byte[] delta(TurnEnd end) {
    return event(
        "message_delta",
        json -> {
          json.writeObjectFieldStart("delta");
          stop(json, end);
          json.writeEndObject();
          usage(json, end.usage());
          end.writeWarnings(json);
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
   * Writes why the message ended. The API has no stop reason for a reply that was cut, so the
   * reason is the limit.
   *
   * @param end null while the message continues
   */
  private static void stop(JsonGenerator json, TurnEnd end) throws IOException {
    String reason = null;
    if (end != null) {
      String stopped = end.stopReason() == null ? "end_turn" : "stop_sequence";
      reason =
          switch (end.finishReason()) {
            case "stop" -> stopped;
            case "tool_calls" -> "tool_use";
            default -> "max_tokens";
          };
    }
    json.writeStringField("stop_reason", reason);
    json.writeStringField("stop_sequence", end == null ? null : end.stopReason());
  }

  private void usage(JsonGenerator json, Usage usage) throws IOException {
    json.writeFieldName("usage");
    json.writeTree(UsageJson.ofMessage(usage, cacheControl));
  }
}
