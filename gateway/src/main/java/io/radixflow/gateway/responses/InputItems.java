package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads items that a client sends: the input of a response, or items of a conversation. Reasoning,
 * a message of the assistant and calls that follow each other are one message, as the job keeps a
 * reply.
 *
 * <p>An item that only another model could use is left out with a notice. One that would change
 * what the reply means, such as an image, is refused by name.
 */
final class InputItems {

  static final int MAX_ITEMS = 1000;
  private static final int MAX_PARTS = 1000;
  private static final int MAX_CALLS = 128;
  private static final List<String> ROLES = List.of("user", "assistant", "system", "developer");
  private static final Set<String> TEXT_PARTS = Set.of("input_text", "output_text", "text");

  private final Consumer<String> notice;
  private final List<Message> messages = new ArrayList<>();

  /** The assistant's message as far as it was read; null if the last message was another's. */
  private Message assistant;

  private InputItems(Consumer<String> notice) {
    this.notice = notice;
  }

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
    InputItems items = new InputItems(notice);
    body.objects(field, "items", MAX_ITEMS).forEach(items::add);
    items.endReply();
    return items.messages;
  }

  private void add(JsonObject item) {
    String type = item.has("type") ? item.text("type") : "message";
    switch (type) {
      case "message" -> addMessage(item);
      case "reasoning" -> addReasoning(item);
      case "function_call" -> addCall(item);
      case "function_call_output" -> addResult(item);
      case "compaction" -> notice.accept(item.path("type") + "=" + type);
      default ->
          throw notServed(
              item.path("type"),
              type,
              "\"message\", \"reasoning\", \"function_call\" and \"function_call_output\" are");
    }
  }

  private void addMessage(JsonObject item) {
    String text = text(item, "content");
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
   * Reads reasoning whose text is there; a summary, or what is encrypted, tells a model nothing.
   */
  private void addReasoning(JsonObject item) {
    StringBuilder text = new StringBuilder();
    if (item.has("content")) {
      for (JsonObject part : item.objects("content", "parts", MAX_PARTS)) {
        text.append(required(part, "text"));
      }
    }
    if (text.isEmpty()) {
      notice.accept(item.path("type") + "=reasoning");
      return;
    }
    endReply();
    String reasoning = Texts.wellFormed(text.toString());
    assistant = new Message("assistant", null, null, List.of(), null, reasoning);
  }

  private void addCall(JsonObject item) {
    item.require("call_id", "name", "arguments");
    String arguments = Texts.wellFormed(item.text("arguments"));
    Message before = assistant == null ? new Message("assistant", null) : assistant;
    List<ToolCall> calls = new ArrayList<>(before.toolCalls());
    if (calls.size() == MAX_CALLS) {
      throw new InvalidInputException(
          item.path("type") + " is function_call; at most " + MAX_CALLS + " may follow each other");
    }
    calls.add(new ToolCall(item.id("call_id"), item.id("name"), arguments));
    assistant = new Message("assistant", before.content(), null, calls, null, before.reasoning());
  }

  private void addResult(JsonObject item) {
    endReply();
    String id = item.require("call_id", "output").id("call_id");
    messages.add(new Message("tool", text(item, "output"), null, List.of(), id, null));
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

  private String text(JsonObject item, String field) {
    JsonNode content = item.get(field);
    if (content == null) {
      throw new InvalidInputException(item.path(field) + " is missing");
    }
    if (content.isTextual()) {
      return Texts.wellFormed(content.textValue());
    }
    StringBuilder text = new StringBuilder();
    for (JsonObject part : item.objects(field, "parts", MAX_PARTS)) {
      text.append(part(part));
    }
    return Texts.wellFormed(text.toString());
  }

  private String part(JsonObject part) {
    part.require("type");
    String type = part.text("type");
    if (type.equals("refusal")) {
      return required(part, "refusal");
    }
    if (!TEXT_PARTS.contains(type)) {
      throw notServed(part.path("type"), type, "\"input_text\" and \"output_text\" are");
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
        path + " is " + Texts.quote(given) + ", which is not served yet; " + served);
  }
}
