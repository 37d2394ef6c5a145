package io.radixflow.operators.flink.tiers;

import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageStoreStats;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** The gauges of the tiers below an engine's device. */
public final class TierMetrics {
  private TierMetrics() {}

  /**
   * Adds the gauges to a group.
   *
   * @param applied number of commands that were done
   * @param refused number of commands that were refused or failed
   */
  public static void register(
      MetricGroup group,
      Supplier<TierStats> stats,
      Supplier<Long> applied,
      Supplier<Long> refused) {
    add(group, "tierCommandsApplied", applied, Long::longValue);
    add(group, "tierCommandsRefused", refused, Long::longValue);
    add(group, "hostPages", stats, TierStats::hostPages);
    add(group, "hostPagesUsed", stats, TierStats::usedHostPages);
    add(group, "hostWindowPartsUsed", stats, TierStats::usedHostParts);
    add(group, "hostPagesEvicted", stats, TierStats::evictedHostPages);
    add(group, "tierPagesQueued", stats, TierStats::queuedPages);
    add(group, "pagesBackedUp", stats, TierStats::backedUpPages);
    add(group, "backupsDropped", stats, TierStats::droppedBackups);
    add(group, "pagesLoaded", stats, TierStats::loadedPages);
    add(group, "pagesFetched", stats, TierStats::fetchedPages);
    add(group, "pagesPrefetched", stats, each -> each.announcements().pages());
    add(group, "prefetchesCutShort", stats, each -> each.announcements().cutShort());
    add(group, "tierWritesDropped", stats, TierStats::droppedWrites);
    add(group, "tierTransfersFailed", stats, TierStats::failedTransfers);
    for (MissReason reason : MissReason.values()) {
      add(of(group, reason), "tierMisses", stats, each -> each.misses().getOrDefault(reason, 0L));
    }
    registerStore(group.addGroup("tier", "disk"), stats, TierStats::store);
    registerStore(group.addGroup("tier", "remote"), stats, TierStats::remote);
  }

  /**
   * @param store returns the figures of a store; null while it is detached
   */
  private static void registerStore(
      MetricGroup group, Supplier<TierStats> stats, Function<TierStats, PageStoreStats> store) {
    Supplier<PageStoreStats> now = () -> store.apply(stats.get());
    add(group, "storePages", now, PageStoreStats::pages);
    add(group, "storeBytes", now, PageStoreStats::bytes);
    add(group, "storeBytesLimit", now, PageStoreStats::limitBytes);
    add(group, "storePagesRead", now, PageStoreStats::readPages);
    add(group, "storePagesWritten", now, PageStoreStats::writtenPages);
    add(group, "storePagesEvicted", now, PageStoreStats::evictedPages);
    add(group, "storeWritesFailed", now, PageStoreStats::failedWrites);
    for (MissReason reason : MissReason.values()) {
      add(of(group, reason), "storeMisses", now, each -> each.misses().getOrDefault(reason, 0L));
    }
  }

  private static MetricGroup of(MetricGroup group, MissReason reason) {
    return group.addGroup("reason", reason.name().toLowerCase(Locale.ROOT));
  }

  private static <T> void add(
      MetricGroup group, String name, Supplier<T> stats, ToLongFunction<T> value) {
    Gauge<Long> gauge =
        () -> {
          T now = stats.get();
          return now == null ? 0 : value.applyAsLong(now);
        };
    group.gauge(name, gauge);
  }
}
