package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.event.MessageList;
import io.radixflow.protocol.event.MessageReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;

/**
 * Reads items from a client: the input of a response, or items of a conversation. Consecutive items
 * of reasoning, messages of the assistant, and calls become one message, because the job stores a
 * reply as one message.
 *
 * <p>Calls of tools other than functions, and their results, are read like calls of functions. An
 * item that only another model or server could use is left out with a notice.
 */
final class InputItems {

  private static final String CALL = "_call";
  private static final String OUTPUT = "_call_output";

  /** The fields that contain the arguments of tool calls. */
  private static final List<String> ARGUMENTS =
      List.of("arguments", "input", "action", "operation");

  private final ContentParts parts;
  private final MessageReader reader;
  private final MessageList messages = new MessageList("");

  private InputItems(ContentParts parts) {
    this.parts = parts;
    this.reader = new MessageReader(MessageReader.Form.ITEMS, parts, this::seen);
  }

  private void seen(JsonObject part) {
    if (part.has("prompt_cache_breakpoint")) {
      parts.leaveOut(part.path("prompt_cache_breakpoint"));
    }
  }

  /**
   * Reads a field that is a text or an array of items. A text is a message of the user.
   *
   * @return the messages; empty if the field is not given
   */
  static List<Message> read(JsonObject body, String field, ContentParts parts) {
    JsonNode value = body.get(field);
    if (value == null) {
      return List.of();
    }
    if (value.isTextual()) {
      String text = Texts.wellFormed(value.textValue());
      return text.isEmpty() ? List.of() : List.of(new Message("user", text));
    }
    InputItems items = new InputItems(parts);
    body.objects(field, "items", ConversationEvent.MAX_MESSAGES).forEach(items::add);
    return items.messages.messages();
  }

  private void add(JsonObject item) {
    String type = item.has("type") ? item.text("type") : "message";
    switch (type) {
      case "message" -> addMessage(item);
      case "reasoning" -> addReasoning(item);
      case "function_call", "custom_tool_call" -> addCall(item, item.require("name").id("name"));
      case "function_call_output", "custom_tool_call_output" -> addResult(item);
      default -> addOther(item, type);
    }
  }

  private void addOther(JsonObject item, String type) {
    boolean answered = item.has("output");
    if (type.endsWith(OUTPUT) && answered && (item.has("call_id") || item.has("id"))) {
      addResult(item);
    } else if (type.endsWith(CALL) && (item.has("call_id") || item.has("id") && answered)) {
      String kind = type.substring(0, type.length() - CALL.length());
      addCall(item, item.has("name") ? item.id("name") : kind);
      if (answered) {
        addResult(item);
      }
    } else {
      parts.leaveOut(item.path("type") + "=" + Texts.quote(type));
    }
  }

  private static String callId(JsonObject item) {
    boolean other = !item.has("call_id") && item.has("id");
    return other ? item.id("id") : item.require("call_id").id("call_id");
  }

  private void addMessage(JsonObject item) {
    String text = reader.text(item.require("content"), "content", false);
    String role = reader.role(item);
    if (!text.isEmpty() && messages.says()) {
      messages.end();
    }
    messages.addText(role, text);
  }

  /**
   * Reads reasoning that has its text. A summary or encrypted reasoning is of no use to the model.
   */
  private void addReasoning(JsonObject item) {
    String text = reader.text(item, "content", true);
    if (text.isEmpty()) {
      parts.leaveOut(item.path("type") + "=reasoning");
      return;
    }
    messages.end();
    messages.addThought(text);
  }

  private void addCall(JsonObject item, String name) {
    String field = ARGUMENTS.stream().filter(item::has).findFirst().orElse("arguments");
    JsonNode given = item.get(field);
    boolean plain = given != null && given.isTextual() && !field.equals("arguments");
    if (messages.calls() == MessageReader.MAX_CALLS) {
      throw new InvalidInputException(
          "%s is a call; at most %d may follow each other"
              .formatted(item.path("type"), MessageReader.MAX_CALLS));
    }
    String arguments =
        plain ? MessageReader.input(field, given.textValue()) : ContentParts.arguments(given);
    messages.addCall(new ToolCall(callId(item), name, arguments));
  }

  private void addResult(JsonObject item) {
    String text = reader.text(item, "output", true);
    messages.add(new Message("tool", text, null, List.of(), callId(item), null));
  }
}
