package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/** Reads {@code messages} from an event. */
final class EventMessages {

  private EventMessages() {}

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
    MessageReader reader = new MessageReader(MessageReader.Form.EVENT, null);
    List<Message> messages = new ArrayList<>(given.size());
    for (JsonObject each : given) {
      Message message = reader.message(each);
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

  private static String text(String path, JsonNode value) {
    String text = JsonObject.text(path, value);
    if (text.isEmpty()) {
      throw new InvalidInputException(path + " is empty: it must say something");
    }
    return Texts.wellFormed(text);
  }
}
