package io.radixflow.engine.cache;

import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Checks that {@code free + evictable + protected + session + in flight == total} and that each
 * page has exactly the owner that is recorded for it; repairs differences.
 */
public final class PageAudit {
  private PageAudit() {}

  /** Compares the counters only; O(1). */
  public static boolean countersAgree(PageAllocator allocator, RadixCache cache) {
    return allocator.cached() == cache.evictablePages() + cache.protectedPages();
  }

  /**
   * Walks the cache and the requests' page tables, and makes allocator and counters agree with
   * them.
   *
   * @param tables passes each page of each running request's table to the consumer
   * @param sessions passes each page that a session keeps between turns
   * @return how many pages and counters were wrong; 0 if all is well
   */
  public static int repair(
      PageAllocator allocator,
      RadixCache cache,
      Consumer<IntConsumer> tables,
      Consumer<IntConsumer> sessions) {
    int total = allocator.total();
    boolean[] cached = new boolean[total];
    boolean[] inFlight = new boolean[total];
    int[] wrong = {cache.recount() ? 0 : 1};
    cache.forEachPage(
        page -> {
          wrong[0] += cached[page] ? 1 : 0;
          cached[page] = true;
        });
    tables.accept(
        page -> {
          if (!cached[page]) {
            wrong[0] += inFlight[page] ? 1 : 0;
            inFlight[page] = true;
          }
        });
    boolean[] session = new boolean[total];
    sessions.accept(
        page -> {
          wrong[0] += cached[page] || inFlight[page] || session[page] ? 1 : 0;
          session[page] = true;
        });
    for (int page = 0; page < total; page++) {
      if (!allocator.agrees(page, cached[page], inFlight[page], session[page])) {
        wrong[0] += allocator.repair(cached, inFlight, session);
        break;
      }
    }
    return wrong[0];
  }

  /**
   * Makes the parts of pages agree with the pages in use and with what running requests and copies
   * have locked.
   *
   * @param locked passes the page of each lock that a running request or copy holds
   * @return how many pages and counters were wrong; 0 if all is well
   */
  public static int repair(
      CacheComponent component, PageAllocator allocator, Consumer<IntConsumer> locked) {
    int[] held = new int[allocator.total()];
    boolean[] inUse = new boolean[held.length];
    for (int page = 0; page < held.length; page++) {
      inUse[page] = !allocator.isFree(page);
    }
    locked.accept(page -> held[page]++);
    return component.repair(held, inUse);
  }
}
