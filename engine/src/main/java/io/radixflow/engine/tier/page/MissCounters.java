package io.radixflow.engine.tier.page;

import java.util.EnumMap;
import java.util.Map;

/** Counts pages that were asked for and not served, by reason. Engine thread only. */
public final class MissCounters {
  private final long[] counts = new long[MissReason.values().length];

  /** The counts of {@link #byReason}; null if one has changed since. */
  private Map<MissReason, Long> snapshot;

  public void add(MissReason reason, int pages) {
    counts[reason.ordinal()] += pages;
    snapshot = null;
  }

  public Map<MissReason, Long> byReason() {
    if (snapshot == null) {
      snapshot = Map.copyOf(counted());
    }
    return snapshot;
  }

  private Map<MissReason, Long> counted() {
    Map<MissReason, Long> map = new EnumMap<>(MissReason.class);
    for (MissReason reason : MissReason.values()) {
      if (counts[reason.ordinal()] > 0) {
        map.put(reason, counts[reason.ordinal()]);
      }
    }
    return map;
  }
}
