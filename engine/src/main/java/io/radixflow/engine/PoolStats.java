package io.radixflow.engine;

/**
 * The pages of an engine's KV pool by their owner, and events since the engine was opened.
 *
 * @param totalPages pages of the pool
 * @param freePages pages on the free list
 * @param evictablePages pages cached and unlocked
 * @param protectedPages pages cached and locked by running requests
 * @param inFlightPages pages of running requests that are not in the cache
 * @param evictedPages pages evicted from the radix cache so far
 * @param repairs times that page accounting was wrong and was repaired
 * @param windows the window parts of pages
 */
public record PoolStats(
    int totalPages,
    int freePages,
    int evictablePages,
    int protectedPages,
    int inFlightPages,
    long evictedPages,
    long repairs,
    WindowStats windows) {
  /** A pool without pages. */
  public static final PoolStats NONE = new PoolStats(0, 0, 0, 0, 0, 0, 0, WindowStats.NONE);
}
