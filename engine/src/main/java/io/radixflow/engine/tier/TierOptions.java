package io.radixflow.engine.tier;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.tier.loadback.LoadBackOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * The tiers below the device. Immutable; change one setting with a {@code with} method.
 *
 * @param hostBytes host memory for pages; 0 for no tiers at all. On a CPU backend the KV pool is
 *     also in host memory. Then this memory is needed in addition and mostly contains the same
 *     pages, so it is useful only for transfers to and from a store
 * @param writePolicy when pages are copied to the host
 * @param loadBack which pages are loaded back, and how long a request waits for them
 * @param store opens the tiers below host memory; null if there are none
 * @param tenants derives the tags by which the store distinguishes tenants; null without a store
 */
@PublicApi
public record TierOptions(
    long hostBytes,
    WritePolicy writePolicy,
    LoadBackOptions loadBack,
    PageStore.Factory store,
    NamespaceKey tenants)
    implements Serializable {
  public static final TierOptions NONE =
      new TierOptions(0, WritePolicy.WRITE_THROUGH, LoadBackOptions.DEFAULT, null, null);

  public TierOptions {
    if (hostBytes < 0) {
      throw new IllegalArgumentException("host memory for pages must not be negative");
    }
    if (store != null && hostBytes == 0) {
      throw new IllegalArgumentException(
          "a store's pages pass through host memory: give the tiers some");
    }
  }

  /** Returns whether there are tiers at all. */
  public boolean enabled() {
    return hostBytes > 0;
  }

  /** Returns these options with another size of host memory. */
  public TierOptions withHostBytes(long bytes) {
    return new TierOptions(bytes, writePolicy, loadBack, store, tenants);
  }

  /** Returns these options with another write policy. */
  public TierOptions withWritePolicy(WritePolicy value) {
    return new TierOptions(hostBytes, value, loadBack, store, tenants);
  }

  /** Returns these options with another threshold for loading. */
  public TierOptions withLoadBackThreshold(int tokens) {
    return withLoadBack(
        new LoadBackOptions(tokens, loadBack.prefetchPolicy(), loadBack.prefetchThreshold()));
  }

  /**
   * Returns these options with another policy of waiting for the stores, and another minimum number
   * of tokens for which the stores are asked.
   */
  public TierOptions withPrefetch(PrefetchPolicy policy, int threshold) {
    return withLoadBack(new LoadBackOptions(loadBack.threshold(), policy, threshold));
  }

  private TierOptions withLoadBack(LoadBackOptions value) {
    return new TierOptions(hostBytes, writePolicy, value, store, tenants);
  }

  /** Returns these options with a store below host memory. */
  public TierOptions withStore(PageStore.Factory factory, NamespaceKey key) {
    return new TierOptions(hostBytes, writePolicy, loadBack, factory, key);
  }
}
