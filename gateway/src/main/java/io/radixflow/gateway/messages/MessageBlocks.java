package io.radixflow.gateway.messages;

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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Reads the conversation of a request: the system prompt and messages, as texts or as blocks.
 *
 * <p>Consecutive messages of one role are joined, as Anthropic does. A tool result is a block of a
 * user's message in the request, and a separate message here. A system message within the
 * conversation keeps its place.
 */
final class MessageBlocks {

  private static final int MAX_BLOCKS = 10_000;

  /** The suffix of the type of a call that Anthropic's servers would run. */
  private static final String SERVER_CALL = "_tool_use";

  private final ContentParts parts;
  private final MessageReader reader;
  private final MessageList messages = new MessageList("\n\n");
  private long pinMillis;

  MessageBlocks(ContentParts parts) {
    this.parts = parts;
    this.reader = new MessageReader(MessageReader.Form.BLOCKS, parts, this::readControl);
  }

  /**
   * Reads the cache control of a block, of a tool or of the request, if there is one. The job
   * caches every prompt. A control keeps the prompt's pages at least for its time to live.
   */
  void readControl(JsonObject holder) {
    JsonObject control = holder.object("cache_control");
    if (control != null) {
      boolean hour = "1h".equals(control.text("ttl"));
      pinMillis = Math.max(pinMillis, TimeUnit.MINUTES.toMillis(hour ? 60 : 5));
    }
  }

  /** Returns the minimum time to keep the pages, in milliseconds; 0 without any control. */
  long pinMillis() {
    return pinMillis;
  }

  /** Returns the conversation: the system prompt first, if there is one. */
  List<Message> read(JsonObject body) {
    String system = MessageReader.withoutBilling(reader.text(body, "system", false));
    if (!system.isBlank()) {
      messages.addText("system", system);
    }
    List<JsonObject> given = body.objects("messages", "messages", ConversationEvent.MAX_MESSAGES);
    if (given.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    given.forEach(this::addMessage);
    List<Message> read = messages.messages();
    if (read.isEmpty()) {
      throw new InvalidInputException("messages says nothing: it must have a text");
    }
    return read;
  }

  private void addMessage(JsonObject given) {
    String role = reader.role(given);
    boolean says = role.equals("assistant");
    if (!given.require("content").get("content").isArray() || role.equals("system")) {
      String text = reader.text(given, "content", false);
      boolean system = role.equals("system");
      says |= messages.addText(role, system ? MessageReader.withoutBilling(text) : text);
    } else if (says) {
      addReply(given.objects("content", "blocks", MAX_BLOCKS));
    } else {
      for (JsonObject block : given.objects("content", "blocks", MAX_BLOCKS)) {
        says |= addBlock(role, block);
      }
    }
    if (!says) {
      throw new InvalidInputException(
          given.path("content") + " is empty: a message must say something");
    }
  }

  /** Adds a block of a user; returns whether it has any content. */
  private boolean addBlock(String role, JsonObject block) {
    if (!type(block).equals("tool_result")) {
      return messages.addText(role, reader.part(block, false));
    }
    messages.add(result(block));
    return true;
  }

  /** Reads the result of a tool. The model recognises an error only by its text. */
  private Message result(JsonObject block) {
    readControl(block);
    String text = reader.text(block, "content", true);
    String shown = block.bool("is_error", false) ? "Error: " + text : text;
    String id = block.require("tool_use_id").id("tool_use_id");
    return new Message("tool", shown, null, List.of(), id, null);
  }

  /** Adds a reply. Texts around a call are joined, as the model wrote them. */
  private void addReply(List<JsonObject> blocks) {
    List<String> texts = new ArrayList<>();
    for (JsonObject block : blocks) {
      switch (type(block)) {
        case "thinking" -> messages.addThought(block.require("thinking").text("thinking"));
        case "redacted_thinking" -> parts.leaveOut(block.path("type") + "=redacted_thinking");
        case "tool_use" -> messages.addCall(call(block));
        default -> texts.add(aside(block));
      }
    }
    messages.addText("assistant", MessageReader.joined(texts, ""));
  }

  /**
   * Reads a text, or a call or result of a tool that Anthropic's servers ran. The text of a
   * server's call or result stays in the reply, on separate lines.
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

  private ToolCall call(JsonObject block) {
    readControl(block);
    if (messages.calls() == MessageReader.MAX_CALLS) {
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

  private static String type(JsonObject block) {
    return block.require("type").text("type");
  }
}
