package io.radixflow.protocol.record;

import io.radixflow.protocol.record.kv.TierUsage;

/**
 * Token counts of a reply.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens prompt tokens whose KV entries came from the radix cache or a tier below it
 *     when the request was admitted for the first time
 * @param completionTokens generated tokens, end token included
 * @param tiers how many of the cached tokens came from each tier below the device
 * @param reasoningTokens generated tokens that are part of the reasoning
 * @param acceptedPredictionTokens generated tokens that were predicted right
 * @param rejectedPredictionTokens the other tokens of the predicted text
 */
public record Usage(
    int promptTokens,
    int cachedTokens,
    int completionTokens,
    TierUsage tiers,
    int reasoningTokens,
    int acceptedPredictionTokens,
    int rejectedPredictionTokens) {
  public static final Usage NONE = new Usage(0, 0, 0);

  /** Counts of a reply whose cached tokens were all on the device. */
  public Usage(int promptTokens, int cachedTokens, int completionTokens) {
    this(promptTokens, cachedTokens, completionTokens, TierUsage.NONE);
  }

  /** Counts of a reply without reasoning. */
  public Usage(int promptTokens, int cachedTokens, int completionTokens, TierUsage tiers) {
    this(promptTokens, cachedTokens, completionTokens, tiers, 0);
  }

  /** Counts of a reply without prediction. */
  public Usage(
      int promptTokens,
      int cachedTokens,
      int completionTokens,
      TierUsage tiers,
      int reasoningTokens) {
    this(promptTokens, cachedTokens, completionTokens, tiers, reasoningTokens, 0, 0);
  }
}
