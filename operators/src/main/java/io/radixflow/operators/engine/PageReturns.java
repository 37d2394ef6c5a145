package io.radixflow.operators.engine;

import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.ReqToTokenPool;
import io.radixflow.operators.cache.SessionAwareCache;
import io.radixflow.operators.cache.SessionPlace;

/**
 * Takes the pages back from requests that do not run any more: what they share stays in the cache,
 * a session keeps its partial page, the rest is free.
 *
 * <p>Engine thread only.
 */
final class PageReturns {
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final SessionAwareCache sessions;
  private final ReqToTokenPool tables;
  private final RequestHints hints;
  private final TierLoads tiers;

  PageReturns(
      PageAllocator allocator,
      RadixCache cache,
      SessionAwareCache sessions,
      ReqToTokenPool tables,
      RequestHints hints,
      TierLoads tiers) {
    this.allocator = allocator;
    this.cache = cache;
    this.sessions = sessions;
    this.tables = tables;
    this.hints = hints;
    this.tiers = tiers;
  }

  /** Takes all pages from a request that is to go on later, from where it finds its prefix. */
  void putBack(Request request) {
    SessionPlace end = end(request);
    if (request.slot == null) {
      cache.unlock(request.locked, false);
    } else {
      SessionPlace left = sessions.ended(request.slot, end, false, true, -1);
      // it will come by again if it was put back before it was there
      if (left != null && !end.isBefore(left)) {
        tiers.forgetting().left(left, request.slot.places());
      }
    }
    free(request);
    request.known = new SessionPlace.Known(end, request.length);
  }

  /**
   * Takes all pages from a request that has ended: what it shares becomes evictable, its own are
   * freed, but for a partial last page that its session keeps. Counts as one use of its prefix.
   *
   * @return where its session goes on, or null if not there
   */
  SessionPlace release(Request request) {
    hints.ended(request);
    SessionPlace end = null;
    boolean closed = request.slot != null && request.slot.isClosed();
    if (!closed && !request.failed && !request.spec.hints().noStore()) {
      tiers.used(request.locked);
    }
    if (request.slot == null) {
      cache.unlock(request.locked, true);
    } else {
      SessionPlace last = end(request);
      SessionPlace left =
          sessions.ended(
              request.slot, last, !request.ahead, request.complete, partialPage(request));
      if (!closed) {
        tiers.forgetting().left(left, request.slot.places());
      }
      end = SessionAwareCache.isPlaceOf(request.slot, last) ? last : null;
    }
    free(request);
    if (closed) {
      tiers.forgetting().forget(request.keyIn(cache));
    }
    return end;
  }

  /** The page that comes after the full ones, all of which are cached; -1 if there is none. */
  private int partialPage(Request request) {
    boolean partial =
        !request.failed
            && !request.spec.hints().noStore()
            && request.computed % allocator.pageTokens() > 0;
    return partial && request.cachedPages == request.computed / allocator.pageTokens()
        ? tables.pages(request.row)[request.cachedPages]
        : -1;
  }

  private SessionPlace end(Request request) {
    String branch = request.slot == null ? "" : request.spec.session().branch();
    return sessions.place(
        branch, request.locked, request.cachedPages, request.keyIn(cache), request.computed);
  }

  /**
   * Its pages that are cached are not its own, not even while they leave the cache of a session.
   */
  private void free(Request request) {
    int[] table = tables.pages(request.row);
    allocator.beginFreeGroup();
    for (int i = 0; i < request.pages; i++) {
      if (allocator.isInFlight(table[i]) && !tiers.isLeaving(table[i])) {
        allocator.free(table[i]);
      }
    }
    allocator.endFreeGroup();
    tables.release(request.row);
    request.row = -1;
    request.pages = 0;
    request.cachedPages = 0;
    request.locked = null;
  }
}
