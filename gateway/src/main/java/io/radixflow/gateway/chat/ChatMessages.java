package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.event.MessageReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the messages of a chat, as tolerantly as OpenAI does: any role, content as a text or as
 * parts, null content, tool calls and their results, and fields that have no effect here.
 */
final class ChatMessages {

  private ChatMessages() {}

  /**
   * Reads the field {@code messages}. A message without content is left out; the last message must
   * have content.
   *
   * @throws InvalidInputException if a message cannot be read
   */
  static List<Message> read(JsonObject body, ContentParts parts) {
    MessageReader reader = new MessageReader(MessageReader.Form.CHAT, parts);
    List<JsonObject> given =
        body.require("messages").objects("messages", "messages", ConversationEvent.MAX_MESSAGES);
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      Message message = reader.message(given.get(i));
      if (isKept(message, given.get(i), i == given.size() - 1)) {
        messages.add(message);
      }
    }
    if (messages.isEmpty()) {
      throw new InvalidInputException("messages is empty; it must have at least one message");
    }
    return messages;
  }

  private static boolean isKept(Message message, JsonObject given, boolean last) {
    if (message.role().equals("system")) {
      return !MessageReader.withoutBilling(message.content()).isEmpty();
    }
    boolean needsContent = !message.role().equals("assistant") && !message.role().equals("tool");
    if (!needsContent || !message.content().isEmpty()) {
      return true;
    }
    JsonNode content = given.get("content");
    if (last && (content == null || content.isArray() && content.isEmpty())) {
      throw new InvalidInputException(given.path("content") + " is missing or has no part");
    }
    return last;
  }
}
