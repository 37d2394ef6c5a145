package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.MissReason;
import java.util.Map;

/**
 * Gauges and counters of a {@link PageStore}.
 *
 * @param pages number of pages in the store
 * @param bytes bytes of the store's files
 * @param limitBytes maximum number of bytes of the store's files
 * @param readPages pages read and verified since the store was opened
 * @param writtenPages pages written
 * @param evictedPages pages evicted to make room
 * @param misses pages that were looked for and not served, by reason
 * @param failedWrites pages that could not be written
 */
public record PageStoreStats(
    long pages,
    long bytes,
    long limitBytes,
    long readPages,
    long writtenPages,
    long evictedPages,
    Map<MissReason, Long> misses,
    long failedWrites) {

  public PageStoreStats {
    misses = Map.copyOf(misses);
  }
}
