package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.config.NearestName;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Message;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/** Reads {@code messages} from an event. */
final class MessagesReader {

  static final int MAX_MESSAGES = 1000;
  static final int MAX_PARTS = 1000;
  private static final List<String> ROLES = List.of("system", "user", "assistant", "tool");
  private static final List<String> FIELDS = List.of("role", "content");
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
  static List<Message> read(EventKind kind, Fields fields) throws InvalidEventException {
    JsonNode value = fields.get("messages");
    if (value == null) {
      if (kind == EventKind.MESSAGE) {
        throw new InvalidEventException("messages is missing: the new turn's messages");
      }
      return List.of();
    }
    if (!value.isArray()) {
      throw Fields.wrongType("messages", value, "an array of messages");
    }
    if (kind == EventKind.MESSAGE && value.isEmpty()) {
      throw new InvalidEventException("messages is empty, must have at least one message");
    }
    int max = kind == EventKind.OPEN ? 1 : MAX_MESSAGES;
    if (value.size() > max) {
      throw new InvalidEventException(
          "messages has " + value.size() + " messages, at most " + max + " are allowed");
    }
    List<Message> messages = new ArrayList<>(value.size());
    for (int i = 0; i < value.size(); i++) {
      Message message = message("messages[" + i + "]", value.get(i));
      if (kind == EventKind.OPEN && !message.role().equals("system")) {
        throw new InvalidEventException(
            "messages[0].role is \"" + message.role() + "\", must be \"system\" in an open event");
      }
      if (kind == EventKind.REGENERATE && message.role().equals("system")) {
        throw new InvalidEventException(
            "messages[%d].role is \"system\", which only a session's first message may have"
                .formatted(i));
      }
      messages.add(message);
    }
    return messages;
  }

  private static Message message(String path, JsonNode value) throws InvalidEventException {
    if (!value.isObject()) {
      throw Fields.wrongType(path, value, "an object with role and content");
    }
    for (Iterator<String> names = value.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (FIELDS_NOT_SERVED.contains(name)) {
        throw new InvalidEventException(path + "." + name + " is not served yet");
      }
      if (!FIELDS.contains(name)) {
        throw unknown(path, name, FIELDS);
      }
    }
    return new Message(role(path, value.get("role")), content(path, value.get("content")));
  }

  private static String role(String path, JsonNode value) throws InvalidEventException {
    if (value == null) {
      throw new InvalidEventException(path + ".role is missing, must be one of " + ROLES);
    }
    String role = Fields.text(path + ".role", value);
    if (!ROLES.contains(role)) {
      throw new InvalidEventException(
          path + ".role is " + Texts.quote(role) + ", must be one of " + ROLES);
    }
    return role;
  }

  private static String content(String message, JsonNode value) throws InvalidEventException {
    String path = message + ".content";
    if (value == null) {
      throw new InvalidEventException(path + " is missing: the message's text");
    }
    if (value.isTextual()) {
      return text(path, value);
    }
    if (!value.isArray()) {
      throw Fields.wrongType(path, value, "a string or an array of parts");
    }
    if (value.isEmpty() || value.size() > MAX_PARTS) {
      throw new InvalidEventException(
          path + " has " + value.size() + " parts, must have 1 to " + MAX_PARTS);
    }
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < value.size(); i++) {
      joined.append(part(path + "[" + i + "]", value.get(i)));
    }
    return Texts.wellFormed(joined.toString());
  }

  private static String part(String path, JsonNode value) throws InvalidEventException {
    if (!value.isObject()) {
      throw Fields.wrongType(path, value, "an object with type and text");
    }
    JsonNode type = value.get("type");
    if (type == null) {
      throw new InvalidEventException(path + ".type is missing, must be \"text\"");
    }
    if (!Fields.text(path + ".type", type).equals("text")) {
      throw new InvalidEventException(
          path + ".type is " + Texts.quote(type.textValue()) + ", only \"text\" is served yet");
    }
    for (Iterator<String> names = value.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!name.equals("type") && !name.equals("text")) {
        throw unknown(path, name, List.of("type", "text"));
      }
    }
    JsonNode text = value.get("text");
    if (text == null) {
      throw new InvalidEventException(path + ".text is missing");
    }
    return text(path + ".text", text);
  }

  private static String text(String path, JsonNode value) throws InvalidEventException {
    String text = Fields.text(path, value);
    if (text.isEmpty()) {
      throw new InvalidEventException(path + " is empty: a message must say something");
    }
    return Texts.wellFormed(text);
  }

  private static InvalidEventException unknown(String path, String name, List<String> valid) {
    return new InvalidEventException(
        path + " has the unknown field " + Texts.quote(name) + "." + NearestName.hint(name, valid));
  }
}
