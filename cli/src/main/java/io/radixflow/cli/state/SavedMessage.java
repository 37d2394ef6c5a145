package io.radixflow.cli.state;

import io.radixflow.text.template.Message;

/**
 * A message of a conversation in a savepoint; a Flink POJO.
 *
 * @param branch the branch; null for the system prompt, which all branches share
 * @param turn id of the turn, or null
 * @param message the message; null for nothing to emit
 * @param finishReason for a reply, why it ended; for a turn without a reply, {@code pending}; else
 *     null
 */
public record SavedMessage(String branch, String turn, Message message, String finishReason) {
  /** Stands for a session without a message to emit. */
  static final SavedMessage NONE = new SavedMessage(null, null, null, null);
}
