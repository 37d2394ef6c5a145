package io.radixflow.operators.record;

/**
 * Token counts of a reply.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens of those, tokens whose KV entries came from the radix cache or a tier below
 *     it at first admission
 * @param completionTokens generated tokens, end token included
 * @param tiers which of the cached tokens came from below the device
 */
public record Usage(int promptTokens, int cachedTokens, int completionTokens, TierUsage tiers) {
  public static final Usage NONE = new Usage(0, 0, 0);

  /** Counts of a reply for which the device had all that was cached. */
  public Usage(int promptTokens, int cachedTokens, int completionTokens) {
    this(promptTokens, cachedTokens, completionTokens, TierUsage.NONE);
  }
}
