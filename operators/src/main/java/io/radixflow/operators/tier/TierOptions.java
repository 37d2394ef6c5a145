package io.radixflow.operators.tier;

import io.radixflow.operators.cache.NamespaceKey;
import java.io.Serializable;

/**
 * The tiers below the device. Immutable; change one setting with a {@code with} method.
 *
 * @param hostBytes host memory for pages; 0 for no tiers at all. On a CPU backend the KV pool lies
 *     in host memory as well, so that this memory comes on top and holds, mostly, what the pool
 *     holds: useful there only as the way to and from a store
 * @param writePolicy when pages are copied to the host
 * @param loadBackThreshold the fewest tokens that are loaded rather than computed; -1 to let the
 *     measured times of both decide
 * @param prefetchPolicy how long a request waits for pages from the store
 * @param prefetchThreshold the fewest tokens that are asked of the store
 * @param store opens the tiers below host memory; null if there are none
 * @param tenants what tells tenants apart in the store
 */
public record TierOptions(
    long hostBytes,
    WritePolicy writePolicy,
    int loadBackThreshold,
    PrefetchPolicy prefetchPolicy,
    int prefetchThreshold,
    PageStore.Factory store,
    NamespaceKey tenants)
    implements Serializable {

  /** Lets the cost model decide what is loaded. */
  public static final int BY_COST = -1;

  /** No tiers. */
  public static final TierOptions NONE =
      new TierOptions(
          0, WritePolicy.WRITE_THROUGH, BY_COST, PrefetchPolicy.TIMEOUT, 256, null, null);

  private static final long PREFETCH_BASE_MILLIS = 2_000;
  private static final long PREFETCH_MOST_MILLIS = 30_000;
  private static final double PREFETCH_MILLIS_PER_TOKEN = 100.0 / 1024;

  public TierOptions {
    require(hostBytes >= 0, "host memory for pages must not be negative");
    require(
        loadBackThreshold >= BY_COST,
        "load-back threshold is " + loadBackThreshold + ", must be at least -1");
    require(
        prefetchThreshold >= 1,
        "prefetch threshold is " + prefetchThreshold + ", must be at least 1");
    require(
        store == null || hostBytes > 0,
        "a store's pages pass through host memory: give the tiers some");
  }

  private static void require(boolean valid, String message) {
    if (!valid) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Whether there are tiers at all. */
  public boolean enabled() {
    return hostBytes > 0;
  }

  /**
   * The longest wait for pages of the store under {@link PrefetchPolicy#TIMEOUT}, as SGLang has it:
   * two seconds and 0.1 s for each 1,024 tokens, at most 30 s.
   */
  public static long prefetchMillis(int tokens) {
    return Math.min(
        PREFETCH_MOST_MILLIS,
        PREFETCH_BASE_MILLIS + (long) Math.ceil(tokens * PREFETCH_MILLIS_PER_TOKEN));
  }

  /** With other host memory. */
  public TierOptions withHostBytes(long bytes) {
    return new TierOptions(
        bytes, writePolicy, loadBackThreshold, prefetchPolicy, prefetchThreshold, store, tenants);
  }

  /** With another write policy. */
  public TierOptions withWritePolicy(WritePolicy value) {
    return new TierOptions(
        hostBytes, value, loadBackThreshold, prefetchPolicy, prefetchThreshold, store, tenants);
  }

  /** With another threshold for loading. */
  public TierOptions withLoadBackThreshold(int tokens) {
    return new TierOptions(
        hostBytes, writePolicy, tokens, prefetchPolicy, prefetchThreshold, store, tenants);
  }

  /** With another way to wait for the store, and another least number of tokens to ask it for. */
  public TierOptions withPrefetch(PrefetchPolicy policy, int threshold) {
    return new TierOptions(
        hostBytes, writePolicy, loadBackThreshold, policy, threshold, store, tenants);
  }

  /** With a store below host memory. */
  public TierOptions withStore(PageStore.Factory factory, NamespaceKey key) {
    return new TierOptions(
        hostBytes, writePolicy, loadBackThreshold, prefetchPolicy, prefetchThreshold, factory, key);
  }
}
