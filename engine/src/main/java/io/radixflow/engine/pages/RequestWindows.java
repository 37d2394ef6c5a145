package io.radixflow.engine.pages;

import io.radixflow.engine.WindowStats;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.WindowParts;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestWindow;
import io.radixflow.kernels.device.KvPool;

/**
 * The window parts of running requests. A request has locked the parts of the pages {@code [from ..
 * to)} of its page table: from the first page that its next query or a step in flight reaches, to
 * the last page that a step writes. This range moves forward with the request, so a prompt of any
 * length needs only the parts of its window and of the chunks in flight.
 *
 * <p>Admission limits the number of requests, so that each can always run a row: the parts for a
 * row are reserved. Further parts, which chunks take, are released when their steps end.
 *
 * <p>While pages of lower tiers are loaded, a request has locked two windows. The first window ends
 * before the loaded pages: the request continues there if the load fails. The second window ends
 * with the loaded pages; its parts are also loaded. The pages between the windows are the gap.
 *
 * <p>Does nothing if the pool has no window parts. Engine thread only.
 */
final class RequestWindows {
  /** One in this many parts stays free for chunks that need more than the reserved parts. */
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

  /** Returns whether a request can run next to the running requests. */
  boolean hasRoomFor(Request request) {
    return parts == null
        || reserved == 0
        || reserved + needed(request) <= parts.total() - parts.total() / CHUNK_SHARE;
  }

  /**
   * Number of parts with which a request can run row by row: the parts of its window, and one to
   * write.
   */
  private int needed(Request request) {
    return Math.min((request.tokens.maxLength() - 1) / pageTokens + 1, parts.windowPages() + 1);
  }

  /**
   * Locks the parts that the first query of a request reaches.
   *
   * @param computed tokens that it does not compute
   * @param found the cached pages of its tokens; the usable ones are in its table
   * @param filled pages of its table that hold tokens
   */
  void admitted(Request request, int[] table, int computed, int found, int filled) {
    if (parts == null) {
      return;
    }
    int needed = needed(request);
    reserved += needed;
    request.pages.window.begin(firstPage(computed), filled, needed, found);
    request.pages.window.forEach(i -> parts.lock(table[i]));
    if (found > request.pages.cached()) {
      shortened++;
      lostTokens += (long) (found - request.pages.cached()) * pageTokens;
    }
  }

  /** Returns the page of the first token that a query sees. */
  private int firstPage(int position) {
    return Math.max(0, position - parts.window() + 1) / pageTokens;
  }

  /** Pages of a request that has been admitted are being loaded, with locked parts. */
  void loads(Request request, int from, int pages) {
    if (parts == null || pages == 0) {
      return;
    }
    int end = from + pages;
    request.pages.window.load(from, Math.max(from, end - parts.windowPages()), end);
  }

  /** The pages of a request have been loaded: it does not need the window before them. */
  void loaded(Request request, int[] table) {
    RequestWindow window = request.pages.window;
    if (parts == null || !window.hasGap()) {
      return;
    }
    for (int i = window.from(); i < window.gapFrom(); i++) {
      parts.unlock(table[i], parts.isBeforeEnd(table[i]));
    }
    window.skipGap();
  }

  /**
   * Gives parts to the pages that a step is about to fill, as far as parts are available.
   *
   * @param end the end of the positions that the step computes
   * @return the end of the positions that it can compute
   */
  int extend(Request request, int[] table, int end) {
    if (parts == null) {
      return end;
    }
    int pages = (end - 1) / pageTokens + 1;
    RequestWindow window = request.pages.window;
    while (window.to() < pages && parts.attach(table[window.to()])) {
      window.grow();
    }
    return Math.min(end, window.to() * pageTokens);
  }

  /** Releases the parts that a request's next queries do not reach. Called after its step. */
  void computed(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    RequestWindow window = request.pages.window;
    int first = firstPage(request.steps.computed());
    while (window.from() < first) {
      int page = window.dropFirst();
      parts.unlock(table[page], isBeforeEnd(request, page));
    }
  }

  /** Returns whether a page is in the window before an end that other requests may continue. */
  private boolean isBeforeEnd(Request request, int page) {
    return isBefore(request.tokens.promptLength() / pageTokens, page)
        || isBefore(request.pages.window.foundPages(), page)
        || isBefore(request.tokens.publicTokens() / pageTokens, page)
        || isBefore(request.pages.window.awaitedEnd(), page);
  }

  private boolean isBefore(int end, int page) {
    return page < end && page >= end - parts.windowPages();
  }

  /** Releases what a request had for steps that have failed; none is in flight. */
  void rewound(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    RequestWindow window = request.pages.window;
    int pages = (request.steps.computed() + pageTokens - 1) / pageTokens;
    while (window.to() > Math.max(pages, window.from())) {
      int page = window.dropLast();
      if (!window.isInGap(page)) {
        parts.unlock(table[page], false);
      }
    }
    if (window.to() <= window.gapFrom()) {
      window.closeGap();
    }
  }

  /**
   * Releases all parts of a request that gives its pages back. They count as parts before an end:
   * another request may continue there.
   */
  void release(Request request, int[] table) {
    if (parts == null) {
      return;
    }
    RequestWindow window = request.pages.window;
    reserved -= window.reserved();
    window.forEach(i -> parts.unlock(table[i], true));
    window.end();
  }
}
