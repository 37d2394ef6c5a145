package io.radixflow.operators.prompt;

import io.radixflow.protocol.record.Message;

/**
 * The beginning of a reply. The event's sender wrote it, and the model continues it. Immutable.
 *
 * @param given the message as its sender wrote it
 * @param read the same message after reasoning between marks was moved from its content to its
 *     reasoning; if the content is empty, the model continues the reasoning
 * @param text the message as a model would write it
 * @param mark the mark that begins the continued reasoning; empty if the model continues the
 *     content
 */
public record Prefill(Message given, Message read, String text, String mark) {

  /** Returns whether the model continues the reasoning instead of the content. */
  boolean thinks() {
    return read.content().isEmpty();
  }

  /** Returns the end of the prompt's text, for the parser of the reply. */
  String promptEnd() {
    return mark;
  }
}
