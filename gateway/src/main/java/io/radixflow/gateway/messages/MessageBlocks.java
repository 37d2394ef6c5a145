package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.event.MessageForm;
import io.radixflow.protocol.event.MessageReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the conversation of a request: the system prompt and messages, as texts or as blocks.
 *
 * <p>Consecutive messages of one role are joined, as Anthropic does. The result of a tool is a
 * block of a user's message in the request, and a message of its own here. A system message within
 * the conversation keeps its place.
 */
final class MessageBlocks {

  private static final int MAX_BLOCKS = 10_000;

  /** The end of the type of a call that Anthropic's servers would run. */
  private static final String SERVER_CALL = "_tool_use";

  private static final String BETWEEN = "\n\n";

  private final ContentParts parts;
  private final MessageReader reader;
  private final CacheControls controls = new CacheControls();

  MessageBlocks(ContentParts parts) {
    this.parts = parts;
    this.reader = new MessageReader(MessageForm.BLOCKS, parts, controls::read);
  }

  /** Returns the cache controls of all blocks that were read. */
  CacheControls controls() {
    return controls;
  }

  /** Returns the conversation: the system prompt first, if there is one. */
  List<Message> read(JsonObject body) {
    List<Message> messages = new ArrayList<>();
    String system = MessageReader.withoutBilling(reader.text(body, "system", false));
    if (!system.isBlank()) {
      messages.add(new Message("system", system));
    }
    List<JsonObject> given = body.objects("messages", "messages", ConversationEvent.MAX_MESSAGES);
    if (given.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    given.forEach(each -> read(messages, each));
    if (messages.isEmpty()) {
      throw new InvalidInputException("messages says nothing: it must have a text");
    }
    return messages;
  }

  private void read(List<Message> messages, JsonObject given) {
    String role = reader.role(given);
    given.require("content");
    boolean blocks = given.get("content").isArray();
    if (blocks && role.equals("assistant")) {
      add(messages, reply(given.objects("content", "blocks", MAX_BLOCKS)));
    } else if (blocks && !role.equals("system")) {
      if (!addBlocks(messages, role, given.objects("content", "blocks", MAX_BLOCKS))) {
        throw empty(given);
      }
    } else {
      String said = reader.text(given, "content", false);
      String text = role.equals("system") ? MessageReader.withoutBilling(said) : said;
      if (text.isEmpty() && !role.equals("assistant")) {
        throw empty(given);
      }
      add(messages, new Message(role, text));
    }
  }

  private static InvalidInputException empty(JsonObject message) {
    return new InvalidInputException(
        message.path("content") + " is empty: a message must say something");
  }

  /**
   * Adds the blocks of a user. Text between results of tools becomes a message.
   *
   * @return whether the blocks have any content
   */
  private boolean addBlocks(List<Message> messages, String role, List<JsonObject> blocks) {
    List<String> texts = new ArrayList<>();
    boolean results = false;
    boolean says = false;
    for (JsonObject block : blocks) {
      if ("tool_result".equals(type(block))) {
        says |= addText(messages, role, texts);
        messages.add(result(block));
        results = true;
      } else {
        texts.add(reader.part(block, false));
      }
    }
    return addText(messages, role, texts) || says || results;
  }

  private static boolean addText(List<Message> messages, String role, List<String> texts) {
    String joined = MessageReader.joined(texts, BETWEEN);
    texts.clear();
    if (!joined.isEmpty()) {
      add(messages, new Message(role, joined));
    }
    return !joined.isEmpty();
  }

  /** Reads the result of a tool. The model recognises an error only by its text. */
  private Message result(JsonObject block) {
    controls.read(block);
    String text = reader.text(block, "content", true);
    String shown = block.bool("is_error", false) ? "Error: " + text : text;
    String id = block.require("tool_use_id").id("tool_use_id");
    return new Message("tool", shown, null, List.of(), id, null);
  }

  /** Reads a reply. Texts around a call are joined, as they were when the model wrote them. */
  private Message reply(List<JsonObject> blocks) {
    List<String> texts = new ArrayList<>();
    List<String> thoughts = new ArrayList<>();
    List<ToolCall> calls = new ArrayList<>();
    for (JsonObject block : blocks) {
      switch (type(block)) {
        case "thinking" -> thoughts.add(block.require("thinking").text("thinking"));
        case "redacted_thinking" -> parts.leaveOut(block.path("type") + "=redacted_thinking");
        case "tool_use" -> calls.add(call(block, calls.size()));
        default -> texts.add(aside(block));
      }
    }
    String thought = MessageReader.joined(thoughts, "\n");
    String content = MessageReader.joined(texts, "");
    return new Message(
        "assistant",
        content.isEmpty() && !calls.isEmpty() ? null : content,
        null,
        calls,
        null,
        thought.isEmpty() ? null : thought);
  }

  /**
   * Reads a text, or a call or result of a tool that Anthropic's servers ran. The text of a
   * server's call or result stays in the reply, in lines of its own.
   */
  private String aside(JsonObject block) {
    String type = type(block);
    if (type.equals("text")) {
      return reader.part(block, false);
    }
    String said;
    if (type.endsWith(SERVER_CALL)) {
      String name = block.has("name") ? block.text("name") : type;
      said = "[" + name + " " + ContentParts.arguments(block.get("input")) + "]";
      parts.leaveOut(block.path("type") + "=" + Texts.quote(type));
    } else {
      said = parts.ofResult(block);
    }
    return "\n" + said + "\n";
  }

  private ToolCall call(JsonObject block, int before) {
    controls.read(block);
    if (before == MessageReader.MAX_CALLS) {
      throw new InvalidInputException(
          block.path("type")
              + " is tool_use; a reply has at most "
              + MessageReader.MAX_CALLS
              + " of them");
    }
    block.require("id", "name");
    JsonNode input = block.get("input");
    JsonNode broken = input == null ? null : input.get(MessageWriter.INVALID_JSON);
    boolean whole = broken == null || !broken.isTextual() || input.size() > 1;
    String arguments = ContentParts.arguments(whole ? input : broken);
    return new ToolCall(block.id("id"), block.id("name"), arguments);
  }

  private static void add(List<Message> messages, Message message) {
    boolean says = message.content() == null || !message.content().isEmpty();
    if (!says && message.reasoning() == null) {
      return;
    }
    int last = messages.size() - 1;
    if (last >= 0 && messages.get(last).role().equals(message.role())) {
      messages.set(last, joined(messages.get(last), message));
    } else {
      messages.add(message);
    }
  }

  private static Message joined(Message first, Message next) {
    List<ToolCall> calls = new ArrayList<>(first.toolCalls());
    calls.addAll(next.toolCalls());
    return new Message(
        first.role(),
        join(BETWEEN, first.content(), next.content()),
        null,
        calls,
        null,
        join("\n", first.reasoning(), next.reasoning()));
  }

  /** Joins two texts that may be null; null if both are. */
  private static String join(String between, String first, String next) {
    return first == null || next == null
        ? first == null ? next : first
        : MessageReader.joined(List.of(first, next), between);
  }

  private static String type(JsonObject block) {
    return block.require("type").text("type");
  }
}
