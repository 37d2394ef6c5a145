package io.radixflow.operators.engine;

import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.RadixKey;
import io.radixflow.operators.cache.SessionPlace;
import io.radixflow.operators.tier.HiRadixCache;
import io.radixflow.operators.tier.PageChain;
import io.radixflow.operators.tier.PageId;
import io.radixflow.operators.tier.TierOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What is taken from the tiers below the device for good: what sessions leave behind or are closed
 * with, and what is to be erased. What the cache on the device has stays: it is somebody's.
 *
 * <p>Engine thread only. Does nothing in an engine without tiers.
 */
final class TierForgetting {

  /** Null without tiers. */
  private final HiRadixCache tiers;

  private final TierOptions options;
  private final int pageTokens;
  private RadixCache cache;

  TierForgetting(HiRadixCache tiers, TierOptions options, int pageTokens) {
    this.tiers = tiers;
    this.options = options;
    this.pageTokens = pageTokens;
  }

  /** Follows another cache. */
  void attach(RadixCache other) {
    cache = other;
  }

  /** Forgets what a session had before its places and the device has for nobody else. */
  void closed(List<SessionPlace> places) {
    if (tiers != null) {
      places.forEach(place -> forget(place.fullPages(), 0));
    }
  }

  /**
   * Forgets what a session had before a place that it does not go on from.
   *
   * @param left null if there is none
   * @param others where the session goes on; what they begin with stays
   */
  void left(SessionPlace left, List<SessionPlace> others) {
    if (tiers == null || left == null) {
      return;
    }
    RadixKey key = left.fullPages();
    int kept = 0;
    for (SessionPlace other : others) {
      kept = Math.max(kept, other.sharedTokens(key.tokens(), key.length()) / pageTokens);
    }
    if (kept < key.pages(pageTokens)) {
      forget(key, kept);
    }
  }

  /** Forgets the pages of a text. */
  void forget(RadixKey key) {
    if (tiers != null) {
      forget(key, 0);
    }
  }

  private void forget(RadixKey key, int kept) {
    PageChain chain = PageChain.of(key, pageTokens, 0);
    int cached = cache.match(key, Integer.MAX_VALUE).pages();
    tiers.forget(chain.from(Math.max(Math.max(kept, cached), chain.sharedPages())));
  }

  /** Forgets pages; completes when their bytes are gone, with whether a store had its part. */
  CompletableFuture<Boolean> forget(PageId[] pages) {
    return tiers == null ? CompletableFuture.completedFuture(false) : tiers.forget(pages);
  }

  /** As {@link #forget(PageId[])}, of all pages there are. */
  CompletableFuture<Boolean> forgetAll() {
    return tiers == null ? CompletableFuture.completedFuture(false) : tiers.forgetAll();
  }

  /** As {@link #forget(PageId[])}, of all pages of a tenant but public ones. */
  CompletableFuture<Boolean> forgetTenant(String tenant) {
    return tiers == null || options.tenants() == null
        ? CompletableFuture.completedFuture(false)
        : tiers.forgetTenant(options.tenants().tenantTag(tenant));
  }
}
