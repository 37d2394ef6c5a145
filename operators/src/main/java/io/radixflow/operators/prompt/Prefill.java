package io.radixflow.operators.prompt;

import io.radixflow.operators.record.Message;

/**
 * The beginning of a reply that its sender wrote, and the model continues. Immutable.
 *
 * @param given the message as its sender gave it
 * @param read the same, with reasoning that its content has with marks as reasoning; a content that
 *     is empty says that the reasoning goes on
 * @param text how a model would have written it
 * @param mark what begins the reasoning that goes on; empty if the content goes on
 */
public record Prefill(Message given, Message read, String text, String mark) {

  /** Returns whether the reasoning goes on, and not the content. */
  boolean thinks() {
    return read.content().isEmpty();
  }

  /** Returns a prompt's end as it counts where a reply is read. */
  String promptEnd() {
    return mark;
  }
}
