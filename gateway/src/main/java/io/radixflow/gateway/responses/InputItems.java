package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Roles;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads items from a client: the input of a response, or items of a conversation. Consecutive
 * reasoning, messages of the assistant and calls become one message, because the job stores a reply
 * as one message.
 *
 * <p>Calls of tools other than functions, and their results, are read like calls of functions. An
 * item that only another model or server could use is left out with a notice.
 */
final class InputItems {

  private static final int MAX_PARTS = 10_000;
  private static final int MAX_CALLS = 10_000;
  private static final String CALL = "_call";
  private static final String OUTPUT = "_call_output";

  /** The fields in which calls of tools have their arguments. */
  private static final List<String> ARGUMENTS =
      List.of("arguments", "input", "action", "operation");

  private final ContentParts parts;
  private final List<Message> messages = new ArrayList<>();

  /** The assistant's message so far; null if the last message is not the assistant's. */
  private Message assistant;

  private InputItems(ContentParts parts) {
    this.parts = parts;
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
    items.endReply();
    return items.messages;
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
    String text = text(item, "content", false);
    String role = role(item);
    if (text.isEmpty()) {
      return;
    }
    if (!role.equals("assistant")) {
      endReply();
      messages.add(new Message(role, text));
      return;
    }
    boolean begun =
        assistant != null && (assistant.content() != null || !assistant.toolCalls().isEmpty());
    if (begun) {
      endReply();
    }
    String reasoning = assistant == null ? null : assistant.reasoning();
    assistant = new Message(role, text, null, List.of(), null, reasoning);
  }

  /**
   * Reads reasoning that has its text. A summary or encrypted reasoning is of no use to the model.
   */
  private void addReasoning(JsonObject item) {
    StringBuilder text = new StringBuilder();
    if (item.has("content")) {
      for (JsonObject part : item.objects("content", "parts", MAX_PARTS)) {
        text.append(part.require("text").text("text"));
      }
    }
    if (text.isEmpty()) {
      parts.leaveOut(item.path("type") + "=reasoning");
      return;
    }
    endReply();
    String reasoning = Texts.wellFormed(text.toString());
    assistant = new Message("assistant", null, null, List.of(), null, reasoning);
  }

  private void addCall(JsonObject item, String name) {
    String field = ARGUMENTS.stream().filter(item::has).findFirst().orElse("arguments");
    JsonNode given = item.get(field);
    boolean plain = given != null && given.isTextual() && !field.equals("arguments");
    String arguments =
        ContentParts.arguments(plain ? Json.object().put(field, given.textValue()) : given);
    Message before = assistant == null ? new Message("assistant", null) : assistant;
    List<ToolCall> calls = new ArrayList<>(before.toolCalls());
    if (calls.size() == MAX_CALLS) {
      throw new InvalidInputException(
          item.path("type") + " is a call; at most " + MAX_CALLS + " may follow each other");
    }
    calls.add(new ToolCall(callId(item), name, arguments));
    assistant = new Message("assistant", before.content(), null, calls, null, before.reasoning());
  }

  private void addResult(JsonObject item) {
    endReply();
    messages.add(
        new Message("tool", text(item, "output", true), null, List.of(), callId(item), null));
  }

  private void endReply() {
    if (assistant != null) {
      boolean nothing = assistant.content() == null && assistant.toolCalls().isEmpty();
      messages.add(
          nothing
              ? new Message("assistant", "", null, List.of(), null, assistant.reasoning())
              : assistant);
      assistant = null;
    }
  }

  private String role(JsonObject item) {
    String role = Roles.of(item);
    if (!Roles.KNOWN.contains(role)) {
      parts.leaveOut(item.path("role") + "=" + Texts.quote(role));
    }
    return role.equals("developer") ? "system" : role;
  }

  /** Returns a text, or the texts of parts. A result may also be null or a single part. */
  private String text(JsonObject item, String field, boolean result) {
    JsonNode content = item.get(field);
    if (content == null && !result) {
      throw new InvalidInputException(item.path(field) + " is missing");
    }
    if (content == null || content.isTextual()) {
      return content == null ? "" : Texts.wellFormed(content.textValue());
    }
    boolean one = result && content.isObject();
    StringBuilder text = new StringBuilder();
    for (JsonObject part :
        one ? List.of(item.object(field)) : item.objects(field, "parts", MAX_PARTS)) {
      if (part.has("prompt_cache_breakpoint")) {
        parts.leaveOut(part.path("prompt_cache_breakpoint"));
      }
      text.append(result ? parts.ofResult(part) : parts.ofMessage(part));
    }
    return Texts.wellFormed(text.toString());
  }
}
