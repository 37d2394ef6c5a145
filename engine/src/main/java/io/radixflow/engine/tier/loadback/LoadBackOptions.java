package io.radixflow.engine.tier.loadback;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * Options that decide which pages are loaded back and how long a request waits for them. Immutable.
 *
 * @param threshold minimum number of tokens to load instead of computing them; {@link #BY_COST} to
 *     let the measured times decide
 * @param prefetchPolicy how long a request waits for pages from the stores
 * @param prefetchThreshold the stores are asked only for at least this many tokens
 */
@PublicApi
public record LoadBackOptions(int threshold, PrefetchPolicy prefetchPolicy, int prefetchThreshold)
    implements Serializable {
  /** Lets the cost model decide which pages are loaded. */
  public static final int BY_COST = -1;

  /** The defaults of a job. */
  public static final LoadBackOptions DEFAULT =
      new LoadBackOptions(BY_COST, PrefetchPolicy.TIMEOUT, 256);

  private static final long PREFETCH_BASE_MILLIS = 2_000;
  private static final long PREFETCH_MOST_MILLIS = 30_000;
  private static final double PREFETCH_MILLIS_PER_TOKEN = 100.0 / 1024;

  public LoadBackOptions {
    if (threshold < BY_COST) {
      throw new IllegalArgumentException(
          "load-back threshold is " + threshold + "; it must be at least -1");
    }
    if (prefetchThreshold < 1) {
      throw new IllegalArgumentException(
          "prefetch threshold is " + prefetchThreshold + "; it must be at least 1");
    }
  }

  boolean isByCost() {
    return threshold == BY_COST;
  }

  /**
   * Returns the longest wait for pages from the stores under {@link PrefetchPolicy#TIMEOUT}, the
   * same as SGLang's: two seconds plus 0.1 s per 1,024 tokens, at most 30 s.
   */
  static long prefetchMillis(int tokens) {
    return Math.min(
        PREFETCH_MOST_MILLIS,
        PREFETCH_BASE_MILLIS + (long) Math.ceil(tokens * PREFETCH_MILLIS_PER_TOKEN));
  }
}
