package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads items that a client sends: the input of a response, or items of a conversation.
 *
 * <p>An item that only another model could use is left out with a notice. One that would change
 * what the reply means, such as a tool's output or an image, is refused by name.
 */
final class InputItems {

  static final int MAX_ITEMS = 1000;
  private static final int MAX_PARTS = 1000;
  private static final List<String> ROLES = List.of("user", "assistant", "system", "developer");
  private static final Set<String> TEXT_PARTS = Set.of("input_text", "output_text", "text");
  private static final Set<String> LEFT_OUT = Set.of("reasoning", "compaction");

  private InputItems() {}

  /**
   * Reads a field that is a text, which is a message of the user, or an array of items.
   *
   * @param notice hears the path of each thing that is left out
   * @return the messages; empty if the field is not given
   */
  static List<Message> read(JsonObject body, String field, Consumer<String> notice) {
    JsonNode value = body.get(field);
    if (value == null) {
      return List.of();
    }
    if (value.isTextual()) {
      String text = Texts.wellFormed(value.textValue());
      return text.isEmpty() ? List.of() : List.of(new Message("user", text));
    }
    List<Message> messages = new ArrayList<>();
    for (JsonObject item : body.objects(field, "items", MAX_ITEMS)) {
      String type = item.text("type");
      if (type != null && LEFT_OUT.contains(type)) {
        notice.accept(item.path("type") + "=" + type);
      } else {
        String text = text(item, type, notice);
        if (!text.isEmpty()) {
          messages.add(new Message(role(item), text));
        }
      }
    }
    return messages;
  }

  private static String role(JsonObject item) {
    String role = item.text("role");
    if (role == null) {
      throw new InvalidInputException(item.path("role") + " is missing");
    }
    if (!ROLES.contains(role)) {
      throw JsonObject.notOneOf(item.path("role"), role, ROLES);
    }
    return role.equals("developer") ? "system" : role;
  }

  private static String text(JsonObject item, String type, Consumer<String> notice) {
    if (type != null && !type.equals("message")) {
      throw notServed(item.path("type"), type, "\"message\"");
    }
    JsonNode content = item.get("content");
    if (content == null) {
      throw new InvalidInputException(item.path("content") + " is missing");
    }
    if (content.isTextual()) {
      return Texts.wellFormed(content.textValue());
    }
    StringBuilder text = new StringBuilder();
    for (JsonObject part : item.objects("content", "parts", MAX_PARTS)) {
      text.append(part(part, notice));
    }
    return Texts.wellFormed(text.toString());
  }

  private static String part(JsonObject part, Consumer<String> notice) {
    part.require("type");
    String type = part.text("type");
    if (type.equals("refusal")) {
      return required(part, "refusal");
    }
    if (!TEXT_PARTS.contains(type)) {
      throw notServed(part.path("type"), type, "\"input_text\" and \"output_text\"");
    }
    if (part.has("prompt_cache_breakpoint")) {
      notice.accept(part.path("prompt_cache_breakpoint"));
    }
    return required(part, "text");
  }

  private static String required(JsonObject part, String field) {
    return part.require(field).text(field);
  }

  private static InvalidInputException notServed(String path, String given, String served) {
    return new InvalidInputException(
        path + " is " + Texts.quote(given) + ", which is not served yet; " + served + " is");
  }
}
