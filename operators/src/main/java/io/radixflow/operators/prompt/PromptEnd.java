package io.radixflow.operators.prompt;

/**
 * How a prompt ends after its messages.
 *
 * @param opensReply whether with the opening of a reply
 * @param prefill the beginning of that reply; null for none
 */
public record PromptEnd(boolean opensReply, Prefill prefill) {

  /** The end of a prompt whose reply begins at its beginning. */
  public static final PromptEnd REPLY = new PromptEnd(true, null);
}
