package io.radixflow.operators.prompt;

/**
 * How a prompt ends after its messages.
 *
 * @param opensReply whether it ends with the template's opening of a reply
 * @param prefill the beginning of that reply; null for none
 */
public record PromptEnd(boolean opensReply, Prefill prefill) {

  /** The end of a prompt for a whole reply, which no prefill begins. */
  public static final PromptEnd REPLY = new PromptEnd(true, null);
}
