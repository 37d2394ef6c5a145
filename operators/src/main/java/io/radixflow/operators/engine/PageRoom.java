package io.radixflow.operators.engine;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.SessionAwareCache;

/**
 * Makes pages of the pool free by evicting what no request uses. A page that the tiers below the
 * pool copy as it leaves the cache is free only once that has ended; one that is needed at once is
 * not copied.
 *
 * <p>Engine thread only.
 */
final class PageRoom {
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
    return !copiesFirst || makeFree(pages, false);
  }

  /**
   * Evicts what is needed to have so many free pages.
   *
   * @param urgent whether they are needed now; if not, those count that are free once they have
   *     been copied
   * @return whether they are free now
   */
  boolean makeFree(int pages, boolean urgent) {
    tiers.urgent(urgent);
    int missing = missing(pages, urgent);
    for (int freed = 1; missing > 0 && freed > 0; missing = missing(pages, urgent)) {
      freed = sessions.reclaim(missing);
      evicted += freed;
    }
    tiers.urgent(false);
    return allocator.free() >= pages;
  }

  private int missing(int pages, boolean urgent) {
    return pages - allocator.free() - (urgent ? 0 : tiers.leavingPages());
  }
}
