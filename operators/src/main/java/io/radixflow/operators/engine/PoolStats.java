package io.radixflow.operators.engine;

/**
 * The pages of an engine's KV pool by their owner, and what became of them since it was opened.
 *
 * @param totalPages pages of the pool
 * @param freePages pages on the free list
 * @param evictablePages pages cached and unlocked
 * @param protectedPages pages cached and locked by running requests
 * @param inFlightPages pages of running requests that are not in the cache
 * @param evictedPages pages evicted from the radix cache so far
 * @param repairs times that page accounting was found wrong and was repaired
 * @param windows the parts of pages that layers with an attention window have
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
