package io.radixflow.engine.tier.loadback;

import io.radixflow.protocol.record.kv.KvTier;
import java.util.concurrent.TimeUnit;

/**
 * Decides which pages are loaded back and waited for, as {@link LoadBackOptions} say: by
 * thresholds, or by measured times of computing a prefix and of loading it. The seconds to compute
 * a token are a line over its position, because attention reads all tokens before it. The seconds
 * to move pages are a line over their number. A store that was too slow is still tried once in
 * {@link #TRIED_AGAIN} times, because it may be faster now. Owned by one thread. Callers pass
 * measured times; the model has no clock.
 */
final class LoadCostModel {
  static final int TRIED_AGAIN = 16;

  private static final double NANOS = 1e-9;
  private static final KvTier[] TIERS = KvTier.values();

  private final int pageTokens;
  private final LoadBackOptions options;
  private final LinearFit compute = new LinearFit();
  private final LinearFit copy = new LinearFit();
  private final LinearFit[] fetch = new LinearFit[TIERS.length];
  private final LinearFit[] ask = new LinearFit[TIERS.length];
  private final int[] declined = new int[TIERS.length];

  LoadCostModel(int pageTokens, LoadBackOptions options) {
    this.pageTokens = pageTokens;
    this.options = options;
    for (int i = 0; i < TIERS.length; i++) {
      fetch[i] = new LinearFit();
      ask[i] = new LinearFit();
    }
  }

  /** Records how long {@code tokens} tokens of a prefill from {@code position} on took. */
  void computed(int position, int tokens, long nanos) {
    compute.add(position + tokens / 2.0, nanos * NANOS / tokens, tokens);
  }

  /** Records how long a copy of pages from the host to the device took. */
  void copied(int pages, long nanos) {
    copy.add(pages, nanos * NANOS, 1);
  }

  /** Records how long a read of pages from a store took. */
  void fetched(KvTier tier, int pages, long nanos) {
    fetch[tier.ordinal()].add(pages, nanos * NANOS, 1);
  }

  /** Records how long a store took to say which pages it has. */
  void asked(KvTier tier, long nanos) {
    ask[tier.ordinal()].add(0, nanos * NANOS, 1);
  }

  /** Returns the seconds to compute pages {@code from .. to-1} of a prefix. */
  double computeSeconds(int from, int to) {
    double tokens = (double) (to - from) * pageTokens;
    double middle = (from + to) / 2.0 * pageTokens;
    return tokens * (compute.base() + compute.slope() * middle);
  }

  /** Returns the seconds to copy pages from the host. */
  double copySeconds(int pages) {
    return pages == 0 ? 0 : copy.base() + copy.slope() * pages;
  }

  /** Returns the seconds to read pages from a store. */
  double fetchSeconds(KvTier tier, int pages) {
    LinearFit line = fetch[tier.ordinal()];
    return pages == 0 ? 0 : line.base() + line.slope() * pages;
  }

  /** Returns whether {@code pages} pages are enough to ask the stores for them. */
  boolean isEnough(int pages) {
    return pages * pageTokens >= options.prefetchThreshold();
  }

  /**
   * Returns whether the stores have had the time that the policy gives them for {@code pages}
   * pages.
   */
  boolean isLate(long waitedNanos, int pages) {
    return options.prefetchPolicy() == PrefetchPolicy.TIMEOUT
        && TimeUnit.NANOSECONDS.toMillis(waitedNanos)
            >= LoadBackOptions.prefetchMillis(pages * pageTokens);
  }

  /**
   * Returns whether a request that has waited for pages {@code from .. to-1} of a store continues
   * to wait. Reading from a remote store may take longer than computing the pages.
   */
  boolean isWorthWaitingFor(KvTier tier, long waitedNanos, int from, int to) {
    boolean measured = tier == KvTier.REMOTE && options.isByCost() && !compute.isEmpty();
    return options.prefetchPolicy() != PrefetchPolicy.BEST_EFFORT
        && !(measured && waitedNanos * NANOS > computeSeconds(from, to));
  }

  /**
   * Returns how many of the pages in host memory to load; the rest are computed. Returns all until
   * something has been measured.
   *
   * @param from pages that the device has
   * @param available pages in host memory after those
   */
  int pagesToLoad(int from, int available) {
    if (!options.isByCost()) {
      return available * pageTokens >= options.threshold() ? available : 0;
    }
    if (compute.isEmpty() || copy.isEmpty()) {
      return available;
    }
    int best = 0;
    double least = computeSeconds(from, from + available);
    for (int pages = 1; pages <= available; pages++) {
      double seconds = copySeconds(pages) + computeSeconds(from + pages, from + available);
      if (seconds < least) {
        least = seconds;
        best = pages;
      }
    }
    return best;
  }

  /**
   * Returns whether it is faster to ask a store for pages, and to get all of them, than to compute
   * them. Returns true until something has been measured, so that a measurement is made.
   */
  boolean isWorthAsking(KvTier tier, int from, int pages) {
    double seconds = ask[tier.ordinal()].base() + fetchSeconds(tier, pages) + copySeconds(pages);
    return !options.isByCost() || compute.isEmpty() || isWorth(tier, seconds, from, pages);
  }

  /** Returns whether a store has enough pages, and reading them is faster than computing them. */
  boolean isWorthFetching(KvTier tier, int from, int pages) {
    return isEnough(pages)
        && (!options.isByCost()
            || compute.isEmpty()
            || fetch[tier.ordinal()].isEmpty()
            || isWorth(tier, fetchSeconds(tier, pages) + copySeconds(pages), from, pages));
  }

  private boolean isWorth(KvTier tier, double seconds, int from, int pages) {
    return seconds < computeSeconds(from, from + pages)
        || ++declined[tier.ordinal()] % TRIED_AGAIN == 0;
  }
}
