package io.radixflow.operators.prompt;

/**
 * The end of a prompt after its messages.
 *
 * @param opensReply whether the prompt ends with the template's opening of a reply
 * @param prefill the beginning of that reply; null for none
 */
public record PromptEnd(boolean opensReply, Prefill prefill) {

  /** The end of a prompt for a whole reply without a prefill. */
  public static final PromptEnd REPLY = new PromptEnd(true, null);
}
