package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.page.PageId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Pages that were there when last looked for, so that they are not looked for again at once. What
 * is remembered is forgotten after its time, however often it is seen meanwhile: others may delete
 * a page. Safe for several threads.
 */
final class KnownPages {
  private final int capacity;
  private final long millis;
  private final LongSupplier clock;
  private final Map<PageId, Long> since = new LinkedHashMap<>();

  /**
   * @param millis how long it is remembered; -1 for ever
   */
  KnownPages(int capacity, long millis, LongSupplier clock) {
    this.capacity = capacity;
    this.millis = millis;
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
    Long at = since.get(page);
    if (at != null && millis >= 0 && clock.getAsLong() - at >= millis) {
      since.remove(page);
      return false;
    }
    return at != null;
  }

  synchronized void remove(PageId page) {
    since.remove(page);
  }

  synchronized void clear() {
    since.clear();
  }
}
