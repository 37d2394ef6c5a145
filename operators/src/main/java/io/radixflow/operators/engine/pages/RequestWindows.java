package io.radixflow.operators.engine.pages;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.WindowParts;
import io.radixflow.operators.engine.WindowStats;
import io.radixflow.operators.engine.request.Request;

/**
 * The window parts of running requests. Of a request's page table, {@code [windowFrom .. windowTo)}
 * have parts that it has locked: from the first page that its next query reaches, or a step in
 * flight, to the last one that a step writes. They move along with it, so that a prompt of any
 * length needs those of its window and of the chunks in flight.
 *
 * <p>Admission keeps the requests few enough that each can always run a row: what one needs for
 * that is reserved, and what chunks take beyond it is released when their steps end.
 *
 * <p>Does nothing if the pool has no window parts. Engine thread only.
 */
final class RequestWindows {
  /** One part of so many stays for what chunks take beyond what is reserved. */
  private static final int CHUNK_SHARE = 8;

  private final int pageTokens;

  /** The pool's window parts; null if it has none. */
  private final WindowParts parts;

  private int reserved;
  private long shortened;
  private long lostTokens;

  /**
   * @param window tokens that a query sees in the layers of the pool's window parts
   */
  RequestWindows(KvPool pool, int window) {
    pageTokens = pool.pageTokens();
    parts =
        pool.parts() == 0
            ? null
            : new WindowParts(
                window, pageTokens, pool.pages(), pool.parts(), pool::mapWindow, pool::discardPart);
    if (parts != null) {
      for (int page = 0; page < pool.pages(); page++) {
        pool.mapWindow(page, -1);
      }
    }
  }

  /** Returns the parts, or null. */
  WindowParts parts() {
    return parts;
  }

  WindowStats stats() {
    return parts == null
        ? WindowStats.NONE
        : new WindowStats(
            parts.window(),
            parts.total(),
            parts.free(),
            parts.locked(),
            parts.taken(),
            shortened,
            lostTokens);
  }

  /** Returns a number that changes whenever {@link #usable} may give another result. */
  long version() {
    return parts == null ? 0 : parts.version();
  }

  /** Returns the longest part of a cached prefix that can be used. */
  PrefixMatch usable(PrefixMatch found) {
    return parts == null ? found : parts.usable(found);
  }

  /** Returns whether a page that is not shared can be used. */
  boolean isUsable(int page) {
    return parts == null || parts.has(page);
  }

  void pageFreed(int page) {
    if (parts != null) {
      parts.pageFreed(page);
    }
  }

  /** Returns whether a request can run beside those that do. */
  boolean hasRoomFor(Request request) {
    return parts == null
        || reserved == 0
        || reserved + needed(request) <= parts.total() - parts.total() / CHUNK_SHARE;
  }

  /** Parts with which a request can run row by row: those of its window, and one to write. */
  private int needed(Request request) {
    return Math.min((request.maxLength - 1) / pageTokens + 1, parts.windowPages() + 1);
  }

  /**
   * Locks the parts that the first query of a request reaches.
   *
   * @param found the cached pages of its tokens, of which those that can be used are in its table
   * @param filled pages of its table that hold tokens
   */
  void admitted(Request request, int[] table, int found, int filled) {
    if (parts == null) {
      return;
    }
    request.windowReserved = needed(request);
    reserved += request.windowReserved;
    request.windowFrom = firstPage(request);
    request.windowTo = filled;
    request.foundPages = found;
    request.awaitedEnd = 0;
    for (int i = request.windowFrom; i < filled; i++) {
      parts.lock(table[i]);
    }
    if (found > request.cachedPages) {
      shortened++;
      lostTokens += (long) (found - request.cachedPages) * pageTokens;
    }
  }

  /** Returns the page of the first token that the next query to be computed sees. */
  private int firstPage(Request request) {
    return Math.max(0, request.computed - parts.window() + 1) / pageTokens;
  }

  /**
   * Gives pages that a step is about to fill their parts, as far as there are any.
   *
   * @param end the end of the positions that the step computes
   * @return the end of those that it can compute
   */
  int extend(Request request, int[] table, int end) {
    if (parts == null) {
      return end;
    }
    int pages = (end - 1) / pageTokens + 1;
    while (request.windowTo < pages && parts.attach(table[request.windowTo])) {
      request.windowTo++;
    }
    return Math.min(end, request.windowTo * pageTokens);
  }

  /** Releases what a request's next queries do not reach, as its step has ended. */
  void computed(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    int first = firstPage(request);
    for (; request.windowFrom < first; request.windowFrom++) {
      parts.unlock(table[request.windowFrom], isBeforeEnd(request, request.windowFrom));
    }
  }

  /** Returns whether a page is in the window before an end from which others may go on. */
  private boolean isBeforeEnd(Request request, int page) {
    return isBefore(request.promptLength / pageTokens, page)
        || isBefore(request.foundPages, page)
        || isBefore(request.publicTokens / pageTokens, page)
        || isBefore(request.awaitedEnd, page);
  }

  private boolean isBefore(int end, int page) {
    return page < end && page >= end - parts.windowPages();
  }

  /** Releases what a request had for steps that have failed; none is in flight. */
  void rewound(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    int pages = (request.computed + pageTokens - 1) / pageTokens;
    while (request.windowTo > Math.max(pages, request.windowFrom)) {
      parts.unlock(table[--request.windowTo], false);
    }
  }

  /** Releases all parts of a request that gives its pages back; it may go on from its end. */
  void release(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    reserved -= request.windowReserved;
    for (int i = request.windowFrom; i < request.windowTo; i++) {
      parts.unlock(table[i], true);
    }
    request.windowReserved = 0;
    request.windowFrom = 0;
    request.windowTo = 0;
  }
}
