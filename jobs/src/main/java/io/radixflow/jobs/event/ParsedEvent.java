package io.radixflow.jobs.event;

import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;

/**
 * What the bytes of an event turned out to be.
 *
 * @param event the event, if it is valid; else null
 * @param rejection the answer to its sender, if it is not valid but says which session and turn it
 *     is for; else null
 * @param reason why it is not valid, for people; null if it is
 * @param unreadable whether the original bytes belong on the dead-letter topic: they are no JSON
 *     object, too large, or nobody can be answered
 */
public record ParsedEvent(
    ConversationEvent event, Reply rejection, String reason, boolean unreadable) {

  static ParsedEvent valid(ConversationEvent event) {
    return new ParsedEvent(event, null, null, false);
  }

  static ParsedEvent invalid(Reply rejection) {
    return new ParsedEvent(null, rejection, rejection.error(), false);
  }

  static ParsedEvent unreadable(Reply rejectionOrNull, String reason) {
    return new ParsedEvent(null, rejectionOrNull, reason, true);
  }
}
