package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads {@code messages} from an event. */
final class MessagesReader {

  static final int MAX_MESSAGES = 10_000;
  static final int MAX_PARTS = 1000;
  private static final List<String> ROLES = List.of("system", "user", "assistant", "tool");
  private static final List<String> FIELDS = List.of("role", "content");
  private static final List<String> PART_FIELDS = List.of("type", "text");
  private static final Set<String> FIELDS_NOT_SERVED =
      Set.of(
          "annotations",
          "audio",
          "function_call",
          "name",
          "reasoning_content",
          "refusal",
          "tool_call_id",
          "tool_calls");

  private MessagesReader() {}

  /** The messages; empty if none are given. */
  static List<Message> read(EventKind kind, JsonObject event) {
    String prompt = prompt(event);
    if (prompt != null) {
      return List.of(new Message(Message.PROMPT, prompt));
    }
    boolean needed = kind == EventKind.MESSAGE || kind == EventKind.APPEND;
    if (needed && !event.has("messages")) {
      throw new InvalidInputException("messages is missing: the new turn's messages");
    }
    int max = kind == EventKind.OPEN ? 1 : MAX_MESSAGES;
    List<JsonObject> given = event.objects("messages", "messages", max);
    if (needed && given.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    List<Message> messages = new ArrayList<>(given.size());
    for (JsonObject each : given) {
      Message message = message(each);
      if (kind == EventKind.OPEN && !message.role().equals("system")) {
        throw new InvalidInputException(
            "messages[0].role is \""
                + message.role()
                + "\"; it must be \"system\" in an open event");
      }
      if (kind == EventKind.REGENERATE && message.role().equals("system")) {
        throw new InvalidInputException(
            each.path("role") + " is \"system\", which only a session's first message may have");
      }
      messages.add(message);
    }
    return messages;
  }

  /** The text that is the turn's prompt as it is; null if it has messages. */
  private static String prompt(JsonObject event) {
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
    return text("prompt", value);
  }

  private static Message message(JsonObject message) {
    for (String name : message.names()) {
      if (FIELDS_NOT_SERVED.contains(name)) {
        throw new InvalidInputException(message.path(name) + " is not served yet");
      }
    }
    message.allow(FIELDS).require("role", "content");
    String role = message.text("role");
    if (!ROLES.contains(role)) {
      throw JsonObject.notOneOf(message.path("role"), role, ROLES);
    }
    return new Message(role, content(role, message));
  }

  /** Reads a text. That of a reply may be empty: the model may have said nothing. */
  private static String content(String role, JsonObject message) {
    String path = message.path("content");
    JsonNode value = message.get("content");
    if (value.isTextual()) {
      boolean empty = value.textValue().isEmpty() && role.equals("assistant");
      return empty ? "" : text(path, value);
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
    if (!type.equals("text")) {
      throw new InvalidInputException(
          part.path("type") + " is " + Texts.quote(type) + ", only \"text\" is served yet");
    }
    part.allow(PART_FIELDS).require("text");
    return text(part.path("text"), part.get("text"));
  }

  private static String text(String path, JsonNode value) {
    String text = JsonObject.text(path, value);
    if (text.isEmpty()) {
      throw new InvalidInputException(path + " is empty: it must say something");
    }
    return Texts.wellFormed(text);
  }
}
