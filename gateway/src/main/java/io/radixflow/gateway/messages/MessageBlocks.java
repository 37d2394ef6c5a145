package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.operators.record.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads the conversation of a request: the system prompt and messages, as texts or as blocks.
 *
 * <p>Messages of one role that follow each other are joined, as Anthropic does. What a model
 * thought before is left out, with a notice. A message of the system within the conversation stays
 * where it is.
 */
final class MessageBlocks {

  private static final int MAX_MESSAGES = 10_000;
  private static final int MAX_BLOCKS = 10_000;

  /** Begins a block that changes with each request and would void every cached prefix. */
  private static final String BILLING = "x-anthropic-billing-header";

  /** Claude Code sends a message of the system after the first of the user. */
  private static final List<String> ROLES = List.of("user", "assistant", "system");

  private static final Set<String> LEFT_OUT = Set.of("thinking", "redacted_thinking");

  private final Consumer<String> notice;
  private final CacheControls controls = new CacheControls();

  /**
   * @param notice hears the path of each thing that is left out
   */
  MessageBlocks(Consumer<String> notice) {
    this.notice = notice;
  }

  /** The cache controls of what was read. */
  CacheControls controls() {
    return controls;
  }

  /** Returns the conversation: the system prompt first, if there is one. */
  List<Message> read(JsonObject body) {
    List<Message> messages = new ArrayList<>();
    String system = texts(body, "system");
    if (!system.isBlank()) {
      messages.add(new Message("system", system));
    }
    List<JsonObject> given = body.objects("messages", "messages", MAX_MESSAGES);
    if (given.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    given.forEach(each -> add(messages, each));
    String last = given.get(given.size() - 1).text("role");
    if ("assistant".equals(last)) {
      throw new InvalidInputException(
          "messages ends with the role assistant, which is not served yet: a reply cannot be begun"
              + " by its client");
    }
    return messages;
  }

  private void add(List<Message> messages, JsonObject given) {
    String role = given.require("role").text("role");
    if (!ROLES.contains(role)) {
      throw JsonObject.notOneOf(given.path("role"), role, ROLES);
    }
    String text = texts(given.require("content"), "content");
    if (text.isEmpty()) {
      if (role.equals("assistant")) {
        return;
      }
      throw new InvalidInputException(
          given.path("content") + " is empty: a message must say something");
    }
    int before = messages.size() - 1;
    if (before >= 0 && messages.get(before).role().equals(role)) {
      messages.set(before, new Message(role, messages.get(before).content() + "\n\n" + text));
    } else {
      messages.add(new Message(role, text));
    }
  }

  /** Returns a text, or the texts of blocks, one after the other; empty if it is not given. */
  private String texts(JsonObject given, String field) {
    JsonNode value = given.get(field);
    if (value == null) {
      return "";
    }
    if (value.isTextual()) {
      return isBilling(value.textValue()) ? "" : Texts.wellFormed(value.textValue());
    }
    if (!value.isArray()) {
      throw JsonObject.wrongType(given.path(field), value, "a string or an array of blocks");
    }
    List<String> texts = new ArrayList<>();
    for (JsonObject block : given.objects(field, "blocks", MAX_BLOCKS)) {
      String text = text(block);
      if (!text.isEmpty() && !isBilling(text)) {
        texts.add(text);
      }
    }
    return Texts.wellFormed(String.join("\n\n", texts));
  }

  private static boolean isBilling(String text) {
    return text.startsWith(BILLING);
  }

  private String text(JsonObject block) {
    String type = block.require("type").text("type");
    controls.read(block);
    if (LEFT_OUT.contains(type)) {
      notice.accept(block.path("type") + "=" + type);
      return "";
    }
    if (!type.equals("text")) {
      throw new ApiException(
          400,
          "invalid_request_error",
          "unsupported_content",
          null,
          block.path("type") + " is " + Texts.quote(type) + ": only text is served yet");
    }
    return block.require("text").text("text");
  }
}
