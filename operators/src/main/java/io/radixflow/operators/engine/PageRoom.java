package io.radixflow.operators.engine;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.SessionAwareCache;
import java.util.List;

/**
 * Makes pages of the pool free by evicting what no request uses. A page that the tiers below the
 * pool copy as it leaves the cache is free only once that has ended. So that a request that grows
 * seldom waits for that, its next page is asked for a few steps ahead.
 *
 * <p>Engine thread only.
 */
final class PageRoom {

  /** How many tokens before a request needs its next page that page is made free. */
  private static final int TOKENS_AHEAD = 4;

  private final TierLoads tiers;
  private PageAllocator allocator;
  private SessionAwareCache sessions;
  private long evicted;

  /**
   * @param tiers what is below the pool
   */
  PageRoom(TierLoads tiers) {
    this.tiers = tiers;
  }

  /** Follows another cache, which is empty. */
  void attach(PageAllocator allocator, SessionAwareCache sessions) {
    this.allocator = allocator;
    this.sessions = sessions;
  }

  /** Pages evicted so far. */
  long evicted() {
    return evicted;
  }

  /** Pages that are free or can be made so. */
  int available() {
    return allocator.free() + sessions.reclaimablePages();
  }

  /** Whether pages will be free soon that are not now. */
  boolean awaitsPages() {
    return tiers.leavingPages() > 0;
  }

  /**
   * Begins to make so many pages free if that may take a while.
   *
   * @return whether they are free, or can be at once
   */
  boolean isReady(int pages) {
    boolean copiesFirst = awaitsPages() || tiers.tiers() != null && allocator.free() < pages;
    return !copiesFirst || makeFree(pages);
  }

  /**
   * Begins to make the pages free that running requests are about to need, if that takes a while.
   */
  void makeFreeAhead(List<Request> running) {
    if (tiers.tiers() == null) {
      return;
    }
    int soon = 0;
    for (int i = 0; i < running.size(); i++) {
      Request request = running.get(i);
      int position = Math.min(request.scheduled + TOKENS_AHEAD, request.maxLength - 2);
      soon += position / allocator.pageTokens() >= request.pages ? 1 : 0;
    }
    makeFree(soon);
  }

  /**
   * Evicts what is needed to have so many pages that are free, or will be once they have been
   * copied.
   *
   * @return whether they are free now
   */
  boolean makeFree(int pages) {
    int missing = missing(pages);
    for (int freed = 1; missing > 0 && freed > 0; missing = missing(pages)) {
      freed = sessions.reclaim(missing);
      evicted += freed;
    }
    return allocator.free() >= pages;
  }

  private int missing(int pages) {
    return pages - allocator.free() - tiers.leavingPages();
  }
}
