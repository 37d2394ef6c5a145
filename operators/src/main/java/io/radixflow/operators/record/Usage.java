package io.radixflow.operators.record;

/**
 * Token counts of a reply.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens of those, tokens whose KV entries came from the radix cache or a tier below
 *     it at first admission
 * @param completionTokens generated tokens, end token included
 * @param tiers which of the cached tokens came from below the device
 * @param reasoningTokens of the generated tokens, the tokens of the reasoning
 * @param acceptedPredictionTokens of the generated tokens, the tokens that the predicted text had
 *     right
 * @param rejectedPredictionTokens of the predicted text, the other tokens
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

  /** Counts of a reply for which the device had all that was cached. */
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
