package io.radixflow.operators.session;

/**
 * A prompt as it was made for a turn; a Flink POJO.
 *
 * @param ids its token ids
 * @param keep how many of its first ids are the first canonical ids of the earlier conversation
 * @param dropped how many of the conversation's oldest turns it leaves out
 * @param tokenizer fingerprint of the tokenizer
 * @param rewritten how many canonical ids of the earlier conversation it does not repeat, because
 *     the chat template rewrites earlier turns or the tools changed
 */
public record Prompt(int[] ids, int keep, int dropped, String tokenizer, int rewritten) {

  /** Creates a prompt that repeats all canonical ids of the conversation before it. */
  public Prompt(int[] ids, int keep, int dropped, String tokenizer) {
    this(ids, keep, dropped, tokenizer, 0);
  }

  /** Returns whether its ids belong to a tokenizer with this fingerprint. */
  public boolean isOf(String fingerprint) {
    return tokenizer.equals(fingerprint);
  }
}
