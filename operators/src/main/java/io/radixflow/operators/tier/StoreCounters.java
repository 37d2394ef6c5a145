package io.radixflow.operators.tier;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What became of a store's reads and writes. Safe for several threads. */
final class StoreCounters {
  final LongAdder read = new LongAdder();
  final LongAdder written = new LongAdder();
  final LongAdder evicted = new LongAdder();
  final LongAdder failedWrites = new LongAdder();
  private final AtomicLongArray misses = new AtomicLongArray(MissReason.values().length);

  void miss(MissReason reason) {
    misses.incrementAndGet(reason.ordinal());
  }

  PageStoreStats stats(long pages, long bytes, long limitBytes) {
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
