package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.MissReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** Counts a store's reads and writes by their outcome. Thread-safe. */
public final class StoreCounters {
  public final LongAdder read = new LongAdder();
  public final LongAdder written = new LongAdder();
  public final LongAdder evicted = new LongAdder();
  public final LongAdder failedWrites = new LongAdder();
  private final AtomicLongArray misses = new AtomicLongArray(MissReason.values().length);

  public void miss(MissReason reason) {
    misses.incrementAndGet(reason.ordinal());
  }

  public PageStoreStats stats(long pages, long bytes, long limitBytes) {
    Map<MissReason, Long> byReason = new EnumMap<>(MissReason.class);
    for (MissReason reason : MissReason.values()) {
      if (misses.get(reason.ordinal()) > 0) {
        byReason.put(reason, misses.get(reason.ordinal()));
      }
    }
    return new PageStoreStats(
        pages,
        bytes,
        limitBytes,
        read.sum(),
        written.sum(),
        evicted.sum(),
        byReason,
        failedWrites.sum());
  }
}
