package io.radixflow.engine.pages;

import io.radixflow.engine.WindowStats;
import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.cache.WindowParts;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestWindow;
import io.radixflow.kernels.device.KvPool;
import java.util.function.IntConsumer;

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
 * <p>Engine thread only.
 */
final class RequestWindows implements RequestComponent {
  /** One in this many parts stays free for chunks that need more than the reserved parts. */
  private static final int CHUNK_SHARE = 8;

  private final int pageTokens;
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
        new WindowParts(
            window, pageTokens, pool.pages(), pool.parts(), pool::mapWindow, pool::discardPart);
    for (int page = 0; page < pool.pages(); page++) {
      pool.mapWindow(page, -1);
    }
  }

  @Override
  public CacheComponent component() {
    return parts;
  }

  @Override
  public WindowStats stats() {
    return new WindowStats(
        parts.window(),
        parts.total(),
        parts.free(),
        parts.locked(),
        parts.taken(),
        shortened,
        lostTokens);
  }

  @Override
  public boolean hasRoomFor(Request request) {
    return reserved == 0
        || reserved + needed(request) <= parts.total() - parts.total() / CHUNK_SHARE;
  }

  /**
   * Returns the number of parts with which a request can run row by row: the parts of its window,
   * and one part to write.
   */
  private int needed(Request request) {
    return Math.min((request.tokens.maxLength() - 1) / pageTokens + 1, parts.endPages() + 1);
  }

  @Override
  public void admitted(Request request, int[] table, int computed, int found, int filled) {
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

  @Override
  public void loads(Request request, int from, int pages) {
    if (pages == 0) {
      return;
    }
    int end = from + pages;
    request.pages.window.load(from, Math.max(from, end - parts.endPages()), end);
  }

  @Override
  public void loaded(Request request, int[] table) {
    RequestWindow window = request.pages.window;
    if (!window.hasGap()) {
      return;
    }
    for (int i = window.from(); i < window.gapFrom(); i++) {
      parts.unlock(table[i], parts.isBeforeEnd(table[i]));
    }
    window.skipGap();
  }

  @Override
  public int extend(Request request, int[] table, int end) {
    int pages = (end - 1) / pageTokens + 1;
    RequestWindow window = request.pages.window;
    while (window.to() < pages && parts.attach(table[window.to()])) {
      window.grow();
    }
    return Math.min(end, window.to() * pageTokens);
  }

  @Override
  public void computed(Request request, int[] table) {
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
    return page < end && page >= end - parts.endPages();
  }

  @Override
  public void awaited(Request running, int pages) {
    running.pages.window.awaitEnd(pages);
  }

  @Override
  public void rewound(Request request, int[] table) {
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

  @Override
  public void release(Request request, int[] table) {
    RequestWindow window = request.pages.window;
    reserved -= window.reserved();
    window.forEach(i -> parts.unlock(table[i], true));
    window.end();
  }

  @Override
  public void forEachLocked(Request request, int[] table, IntConsumer visitor) {
    request.pages.window.forEach(i -> visitor.accept(table[i]));
  }
}
