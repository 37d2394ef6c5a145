package io.radixflow.lab.replay;

/**
 * The configuration of the recorded cache.
 *
 * @param policy name of its eviction policy
 * @param pageTokens units per page: tokens, or pairs of tokens
 * @param bigram whether its keys were of pairs of tokens
 */
public record TraceSetup(String policy, int pageTokens, boolean bigram) {
  /** The largest supported page. */
  public static final int MAX_PAGE_TOKENS = 1 << 16;

  public TraceSetup {
    if (pageTokens < 1 || pageTokens > MAX_PAGE_TOKENS) {
      throw new IllegalArgumentException(
          "a page has 1 to " + MAX_PAGE_TOKENS + " tokens, not " + pageTokens);
    }
  }

  int pages(int[] tokens) {
    return (bigram ? Math.max(0, tokens.length - 1) : tokens.length) / pageTokens;
  }
}
