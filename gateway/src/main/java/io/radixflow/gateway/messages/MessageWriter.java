package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
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
  public ObjectNode whole(List<TurnMessage> replies, List<TurnEnd> ends) {
    TurnEnd end = ends.get(0);
    ObjectNode message = message(replies.get(0), end, end.usage());
    end.putWarnings(message);
    return message;
  }

  /**
   * Returns the first event of a stream.
   *
   * @param counts token counts of the prompt and of the reply so far
   */
  ObjectNode start(Usage counts) {
    return typed("message_start").set("message", message(null, null, counts));
  }

  private ObjectNode message(TurnMessage reply, TurnEnd end, Usage usage) {
    ObjectNode message = Json.object().put("id", id).put("type", "message");
    message.put("role", "assistant").put("model", model);
    ArrayNode content = message.putArray("content");
    if (reply != null) {
      addBlocks(content, reply, !end.finishReason().equals("tool_calls"));
    }
    putStop(message, end);
    return message.set("usage", UsageJson.ofMessage(usage, cacheControl));
  }

  private void addBlocks(ArrayNode content, TurnMessage reply, boolean cut) {
    boolean says = false;
    for (ReplyBlock block : ReplyBlock.of(reply.message(), reply.order())) {
      says |= !block.part().isReasoning();
      if (block.call() != null) {
        content.add(toolUse(block.call(), cut));
      } else {
        content.add(block.part().isReasoning() ? thinking(block.text(), id) : text(block.text()));
      }
    }
    if (!says) {
      content.add(text(""));
    }
  }

  private static ObjectNode text(String text) {
    return typed("text").put("text", text);
  }

  /**
   * @param signature a text that clients send back with the block; the gateway ignores it
   */
  private static ObjectNode thinking(String text, String signature) {
    return typed("thinking").put("thinking", text).put("signature", signature);
  }

  /**
   * Writes a call. Arguments that are not a JSON object become a text in an object, so that the
   * client can report them. Cut arguments are left out.
   */
  private static ObjectNode toolUse(ToolCall call, boolean cut) {
    boolean whole = JsonValues.object(call.arguments()) != null && Json.canReturn(call.arguments());
    boolean broken = !whole && !cut && !call.arguments().isBlank();
    String shown = broken ? JsonValues.write(Map.of(INVALID_JSON, call.arguments())) : "{}";
    ObjectNode use = typed("tool_use").put("id", call.id()).put("name", call.name());
    return use.putRawValue("input", new RawValue(whole ? call.arguments() : shown));
  }

  /**
   * Returns the event that begins a block.
   *
   * @param name name of the function, if the block is a call
   */
  static ObjectNode blockStart(int index, TurnPart part, String name) {
    ObjectNode block =
        part.isContent()
            ? text("")
            : part.isReasoning()
                ? thinking("", "")
                : toolUse(new ToolCall(part.id(), name, "{}"), false);
    return typed("content_block_start").put("index", index).set("content_block", block);
  }

  /** Returns the event for a piece of a block. */
  static ObjectNode blockDelta(int index, TurnPart part, String text) {
    if (part.isContent()) {
      return blockDelta(index, typed("text_delta").put("text", text));
    }
    return blockDelta(
        index,
        part.isReasoning()
            ? typed("thinking_delta").put("thinking", text)
            : typed("input_json_delta").put("partial_json", text));
  }

  /** Returns the event with the signature of a thinking block. */
  ObjectNode signature(int index) {
    return blockDelta(index, typed("signature_delta").put("signature", id));
  }

  private static ObjectNode blockDelta(int index, ObjectNode delta) {
    return typed("content_block_delta").put("index", index).set("delta", delta);
  }

  /** Returns the event with the stop reason and the token counts of the message. */
  ObjectNode delta(TurnEnd end) {
    ObjectNode event = typed("message_delta");
    putStop(event.putObject("delta"), end);
    event.set("usage", UsageJson.ofMessage(end.usage(), cacheControl));
    end.putWarnings(event);
    return event;
  }

  /** Begins an event or a block. */
  static ObjectNode typed(String type) {
    return Json.object().put("type", type);
  }

  /**
   * Writes why the message ended. The API has no stop reason for a reply that was cut, so the
   * reason is the limit.
   *
   * @param end null while the message continues
   */
  private static void putStop(ObjectNode json, TurnEnd end) {
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
    json.put("stop_reason", reason);
    json.put("stop_sequence", end == null ? null : end.stopReason());
  }
}
