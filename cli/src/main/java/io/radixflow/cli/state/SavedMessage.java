package io.radixflow.cli.state;

import io.radixflow.protocol.record.Message;

/**
 * A message of a conversation in a savepoint; a Flink POJO.
 *
 * @param branch the branch, or null for what all have: the system prompt
 * @param turn id of its turn, or null
 * @param message the message; null for nothing to emit
 * @param finishReason of a reply how it ended; of a turn without a reply {@code pending}; else null
 */
public record SavedMessage(String branch, String turn, Message message, String finishReason) {
  /** Stands for a session without a message to emit. */
  static final SavedMessage NONE = new SavedMessage(null, null, null, null);
}
