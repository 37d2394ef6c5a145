package io.radixflow.operators.session;

/**
 * A prompt as it was made for a turn; a Flink POJO.
 *
 * @param ids its token ids
 * @param keep how many of them are the first canonical ids of the conversation before
 * @param dropped how many of the conversation's oldest turns it leaves out
 * @param tokenizer fingerprint of the tokenizer
 */
public record Prompt(int[] ids, int keep, int dropped, String tokenizer) {}
