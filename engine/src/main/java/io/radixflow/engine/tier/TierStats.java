package io.radixflow.engine.tier;

import io.radixflow.engine.tier.loadback.AnnouncementStats;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageStoreStats;
import java.util.Map;

/**
 * Gauges and counters of the tiers below the device.
 *
 * @param hostPages pages of host memory
 * @param usedHostPages pages of host memory that are in use
 * @param usedHostParts window parts in host memory
 * @param evictedHostPages pages evicted from host memory
 * @param backedUpPages pages copied from the device to the host
 * @param droppedBackups pages that were not copied for lack of room or time, or because too many
 *     other namespaces have displaced their namespace
 * @param loadedPages pages copied from the host to the device
 * @param fetchedPages pages read from the stores into host memory
 * @param droppedWrites pages that were not written to the store because too many waited
 * @param failedTransfers failed copies, whatever their number of pages
 * @param queuedPages pages on their way to host memory, to the store or from the store, and pages
 *     whose checksums are being computed
 * @param misses requested pages that neither host memory nor the store returned, by reason
 * @param announcements reads for announced turns
 * @param store statistics of the store on disk, after the last operation on it; null if there is no
 *     store
 * @param remote the same for the store in a remote file system
 */
public record TierStats(
    int hostPages,
    int usedHostPages,
    int usedHostParts,
    long evictedHostPages,
    long backedUpPages,
    long droppedBackups,
    long loadedPages,
    long fetchedPages,
    long droppedWrites,
    long failedTransfers,
    int queuedPages,
    Map<MissReason, Long> misses,
    AnnouncementStats announcements,
    PageStoreStats store,
    PageStoreStats remote) {

  /** The statistics of an engine without tiers. */
  public static final TierStats NONE =
      new TierStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Map.of(), AnnouncementStats.NONE, null, null);

  public TierStats {
    misses = Map.copyOf(misses);
  }
}
