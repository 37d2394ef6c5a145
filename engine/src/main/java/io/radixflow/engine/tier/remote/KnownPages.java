package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.PageId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Remembers which pages were found, so that they are not looked up again soon. A page is forgotten
 * after a fixed time, however often it is seen, because other engines may delete it. Thread-safe.
 */
final class KnownPages {
  static final int CAPACITY = 100_000;
  static final long MILLIS = 60_000;

  private final int capacity;
  private final LongSupplier clock;
  private final Map<PageId, Long> since = new LinkedHashMap<>();

  /**
   * @param clock milliseconds
   */
  KnownPages(int capacity, LongSupplier clock) {
    this.capacity = capacity;
    this.clock = clock;
  }

  synchronized void add(PageId page) {
    if (!contains(page)) {
      since.put(page, clock.getAsLong());
      if (since.size() > capacity) {
        since.remove(since.keySet().iterator().next());
      }
    }
  }

  synchronized boolean contains(PageId page) {
    return since.computeIfPresent(page, (id, at) -> isFresh(clock.getAsLong() - at) ? at : null)
        != null;
  }

  /** A clock that was set back says nothing about an age. */
  private static boolean isFresh(long age) {
    return age >= 0 && age < MILLIS;
  }

  synchronized void remove(PageId page) {
    since.remove(page);
  }

  synchronized void clear() {
    since.clear();
  }
}
