package io.radixflow.protocol.event;

import io.radixflow.protocol.record.ConversationEvent;

/**
 * The result of reading the bytes of an event.
 *
 * @param event the event, valid or not; null if it does not name its session and turn
 * @param reason why the event is not valid, for people; null if it is valid
 * @param unreadable whether the original bytes belong on the dead-letter topic: they are not a JSON
 *     object, are too large, or do not name a turn to answer
 */
public record ParsedEvent(ConversationEvent event, String reason, boolean unreadable) {

  /** Returns whether the event is valid. */
  public boolean isValid() {
    return reason == null;
  }

  static ParsedEvent valid(ConversationEvent event) {
    return new ParsedEvent(event, null, false);
  }

  static ParsedEvent invalid(ConversationEvent event) {
    return new ParsedEvent(event, event.error(), false);
  }

  static ParsedEvent unreadable(ConversationEvent eventOrNull, String reason) {
    return new ParsedEvent(eventOrNull, reason, true);
  }
}
