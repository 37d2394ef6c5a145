package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Roles;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads {@code messages} from an event. */
final class MessagesReader {

  static final int MAX_PARTS = 1000;
  static final int MAX_CALLS = 10_000;
  private static final List<String> FIELDS =
      List.of("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content");
  private static final List<String> CALL_FIELDS = List.of("id", "type", "function");
  private static final List<String> FUNCTION_FIELDS = List.of("name", "arguments");
  private static final List<String> PART_FIELDS = List.of("type", "text");
  private static final Set<String> FIELDS_NOT_SERVED =
      Set.of("annotations", "audio", "function_call", "refusal");

  private MessagesReader() {}

  /** The messages; empty if none are given. */
  static List<Message> read(EventKind kind, JsonObject event) {
    Message prompt = prompt(event);
    if (prompt != null) {
      return List.of(prompt);
    }
    boolean needed = kind == EventKind.MESSAGE || kind == EventKind.APPEND;
    if (needed && !event.has("messages")) {
      throw new InvalidInputException("messages is missing: the new turn's messages");
    }
    int max = kind == EventKind.OPEN ? 1 : ConversationEvent.MAX_MESSAGES;
    List<JsonObject> given = event.objects("messages", "messages", max);
    if (needed && given.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    List<Message> messages = new ArrayList<>(given.size());
    for (JsonObject each : given) {
      Message message = message(each);
      if (kind == EventKind.OPEN && !message.instructs()) {
        throw new InvalidInputException(
            "messages[0].role is \""
                + message.role()
                + "\"; it must be \"system\" in an open event");
      }
      if (kind == EventKind.REGENERATE && message.instructs()) {
        throw new InvalidInputException(
            "%s is \"%s\", which only a session's first message may have"
                .formatted(each.path("role"), message.role()));
      }
      messages.add(message);
    }
    return messages;
  }

  /** Returns the text or the ids of a turn's raw prompt; null if the turn has messages. */
  private static Message prompt(JsonObject event) {
    JsonNode value = event.get("prompt");
    if (value == null) {
      return null;
    }
    for (String other : List.of("messages", "branch", "previous_turn")) {
      if (event.has(other)) {
        throw new InvalidInputException(
            other + " and prompt are both given; a turn with prompt has and follows nothing else");
      }
    }
    if (event.bool("match_history", false)) {
      throw new InvalidInputException("match_history and prompt are both given; give one");
    }
    if (!value.isArray()) {
      return new Message(Message.PROMPT, text("prompt", value));
    }
    if (value.isEmpty()) {
      throw new InvalidInputException("prompt is empty: it must have at least one token id");
    }
    return Message.ofIds(JsonObject.naturals("prompt", value));
  }

  private static Message message(JsonObject message) {
    for (String name : message.names()) {
      if (FIELDS_NOT_SERVED.contains(name)) {
        throw new InvalidInputException(message.path(name) + " is not served yet");
      }
    }
    String role = Roles.of(message.allow(FIELDS));
    List<ToolCall> calls = calls(role, message);
    if (calls.isEmpty()) {
      message.require("content");
    }
    only("tool", role, message, "tool_call_id");
    only("assistant", role, message, "reasoning_content");
    String reasoning = message.text("reasoning_content");
    return new Message(
        role,
        content(message),
        message.id("name"),
        calls,
        message.id("tool_call_id"),
        reasoning == null ? null : Texts.wellFormed(reasoning));
  }

  private static void only(String role, String given, JsonObject message, String field) {
    if (message.has(field) && !given.equals(role)) {
      throw new InvalidInputException(
          "%s is given, which only a message of role \"%s\" may have"
              .formatted(message.path(field), role));
    }
  }

  /** Reads the calls of an assistant's message; null and an empty list mean no calls. */
  private static List<ToolCall> calls(String role, JsonObject message) {
    only("assistant", role, message, "tool_calls");
    List<ToolCall> calls = new ArrayList<>();
    for (JsonObject call : message.objects("tool_calls", "calls", MAX_CALLS)) {
      call.allow(CALL_FIELDS).require("id", "function");
      String type = call.text("type");
      if (type != null && !type.equals("function")) {
        throw JsonObject.notOneOf(call.path("type"), type, List.of("function"));
      }
      JsonObject function = call.object("function");
      function.allow(FUNCTION_FIELDS).require("name", "arguments");
      String arguments = Texts.wellFormed(function.text("arguments"));
      calls.add(new ToolCall(call.id("id"), function.id("name"), arguments));
    }
    return calls;
  }

  /** Reads a text, which may be empty; null if there is none. */
  private static String content(JsonObject message) {
    String path = message.path("content");
    JsonNode value = message.get("content");
    if (value == null) {
      return null;
    }
    if (value.isTextual()) {
      return Texts.wellFormed(value.textValue());
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(path, value, "a string or an array of parts");
    }
    List<JsonObject> parts = message.objects("content", "parts", MAX_PARTS);
    if (parts.isEmpty()) {
      throw new InvalidInputException(
          path + " is empty; it must have 1 to " + MAX_PARTS + " parts");
    }
    StringBuilder joined = new StringBuilder();
    parts.forEach(part -> joined.append(part(part)));
    return Texts.wellFormed(joined.toString());
  }

  private static String part(JsonObject part) {
    part.require("type");
    String type = part.text("type");
    if (ContentParts.isUnreadable(type)) {
      return ContentParts.note(type);
    }
    if (!type.equals("text")) {
      throw new InvalidInputException(
          part.path("type") + " is " + Texts.quote(type) + ", which is not a type of content part");
    }
    part.allow(PART_FIELDS).require("text");
    return part.text("text");
  }

  private static String text(String path, JsonNode value) {
    String text = JsonObject.text(path, value);
    if (text.isEmpty()) {
      throw new InvalidInputException(path + " is empty: it must say something");
    }
    return Texts.wellFormed(text);
  }
}
