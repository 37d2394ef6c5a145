package io.radixflow.operators.engine;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.operators.cache.CacheOptions;
import io.radixflow.operators.cache.CacheSlot;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.PrefixCaching;
import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.ReqToTokenPool;
import io.radixflow.operators.cache.SessionAwareCache;
import io.radixflow.operators.cache.SessionPlace;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.record.KvEvent;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The pages of running requests: taken from the cache and the pool at admission, grown token by
 * token, passed to the cache as they are computed, given back at the end.
 *
 * <p>Engine thread only.
 */
final class KvPages {
  private final KvPool pool;
  private final CacheOptions options;
  private final SessionSlots slots;
  private final TierLoads tiers;
  private final PageRoom room;
  private final LongSupplier clock;
  private final int pageTokens;
  private final int maxRunning;
  private PageAllocator allocator;
  private RadixCache cache;
  private SessionAwareCache sessions;
  private ReqToTokenPool tables;
  private PageOwners audit;
  private PageReturns returns;
  private RequestHints hints;

  /** Null if nobody wants the cache's events. */
  private KvEventFeed events;

  /**
   * @param maxRunning requests that hold pages at once, those that ended and wait for a step in
   *     flight included
   * @param options what requests share
   * @param slots told of sessions that have nothing cached any more
   * @param tiers what is below the pool
   * @param clock milliseconds that only grow
   */
  KvPages(
      KvPool pool,
      int maxRunning,
      CacheOptions options,
      SessionSlots slots,
      TierLoads tiers,
      LongSupplier clock) {
    this.tiers = tiers;
    this.room = new PageRoom(tiers);
    this.pool = pool;
    this.options = options;
    this.slots = slots;
    this.clock = clock;
    this.maxRunning = maxRunning;
    this.pageTokens = pool.pageTokens();
    reset();
  }

  /** Forgets everything: all pages are free, nothing is cached. */
  final void reset() {
    allocator = new PageAllocator(pool.pages(), pageTokens, pool::discard);
    cache = options.open(allocator, pageTokens);
    tiers.attach(cache, allocator);
    if (events != null) {
      cache.listen(events, events.tokenIds());
      events.restart();
    }
    slots.closeAll();
    if (sessions != null) {
      sessions.abandon();
    }
    sessions = new SessionAwareCache(cache, allocator, options.sessions(), slots::forgotten);
    room.attach(allocator, sessions);
    hints = new RequestHints(cache, allocator, clock);
    tables = new ReqToTokenPool(maxRunning);
    returns = new PageReturns(allocator, cache, sessions, tables, hints, tiers);
    audit = new PageOwners(allocator, cache, sessions, tables, tiers);
  }

  /** Hands what changes in the cache, which is empty, to a sink. */
  void publish(KvEventSink sink) {
    events = new KvEventFeed(sink, this::content);
    cache.listen(events, events.tokenIds());
    tiers.listen(events);
  }

  /** What is in the cache and in the tiers below it, no page before its parent. */
  List<KvEvent.Stored> content() {
    return Stream.concat(cache.content().stream(), tiers.content().stream()).toList();
  }

  /** What is below the pool. */
  TierLoads tiers() {
    return tiers;
  }

  /** Hands over what has changed in the cache since the last call. */
  void flushEvents() {
    if (events != null) {
      events.flush();
    }
  }

  KvEventStats eventStats() {
    return events == null ? KvEventStats.NONE : events.stats();
  }

  PageAllocator allocator() {
    return allocator;
  }

  RadixCache cache() {
    return cache;
  }

  /**
   * @param tokensAhead tokens computed for turns to come
   */
  SessionStats sessionStats(long tokensAhead) {
    return new SessionStats(
        sessions.hotSlots(),
        sessions.slots(),
        sessions.sessionPages(),
        hints.pins().pages(),
        hints.pins().refused(),
        tokensAhead);
  }

  /** Ends pins and priorities whose time has come. */
  void expireHints() {
    hints.expire();
  }

  /** See {@link SessionAwareCache#cut}; a pin of the turn moves there. */
  SessionPlace cut(Request turn, SessionPlace end, int tokens) {
    boolean pinned =
        turn.spec.hints().pinMillis() > 0 && SessionAwareCache.isPlaceOf(turn.slot, end);
    if (pinned) {
      hints.unpin(turn.slot);
    }
    SessionPlace place = sessions.cut(turn.slot, end, tokens);
    if (place != null) {
      tiers.forgetting().left(end, turn.slot.places());
    }
    if (pinned) {
      PrefixMatch kept = cache.match(turn.keyIn(cache), tokens / pageTokens);
      TreeNode locked = cache.lock(turn.keyIn(cache), kept);
      hints.pin(turn, locked, kept.pages());
      cache.unlock(locked, false);
    }
    return place;
  }

  /**
   * As {@link #admit} if there is something to compute or pin, and free pages are enough for it.
   */
  boolean admitFree(Request request, PrefixMatch match) {
    int cached = match.pages() * pageTokens;
    cached += sessions.partialTokens(request.slot, request.known, match.pages());
    int needed = allocator.pagesFor(request.length) - match.pages();
    boolean useful = cached < request.length || request.spec.hints().pinMillis() > 0;
    return useful && needed <= allocator.free() && admit(request, match, 0);
  }

  /** Frees what nobody but a session uses, and forgets it in the tiers below. */
  void close(CacheSlot slot) {
    List<SessionPlace> places = slot.places();
    hints.unpin(slot);
    sessions.close(slot);
    tiers.forgetting().closed(places);
  }

  /** Makes pages free. */
  PageRoom room() {
    return room;
  }

  /** The page table of a running request. */
  int[] table(Request request) {
    return tables.pages(request.row);
  }

  /**
   * The longest cached prefix of all of a waiting request's tokens. Looked up only if the tree has
   * changed since the last time, and then from where that search ended.
   */
  PrefixMatch match(Request request) {
    PrefixMatch last = request.match;
    if (last != null && request.matchVersion == cache.version()) {
      return last;
    }
    request.matchVersion = cache.version();
    request.match =
        last == null
            ? sessions.match(request.keyIn(cache), request.known)
            : cache.match(request.keyIn(cache), Integer.MAX_VALUE, last.node(), last.pages());
    return request.match;
  }

  /**
   * Gives a request the pages of all its tokens, the cached ones shared and locked.
   *
   * <p>If all of them are cached, the last token is computed again for its logits: it writes the
   * same bits into its slot, as a KV entry depends on the prefix alone.
   *
   * @param headroom pages that must remain for others to grow
   * @return whether there were enough
   */
  boolean admit(Request request, PrefixMatch match, int headroom) {
    if (tables.free() == 0) {
      return false;
    }
    if (shortage(request, match, headroom) > 0) {
      // pins must not keep a request out that would run alone
      return headroom == 0 && hints.unpinAll() && admit(request, match(request), headroom);
    }
    int needed = allocator.pagesFor(request.length) - match.pages();
    request.locked = cache.lock(request.keyIn(cache), match);
    if (!room.isReady(needed)) {
      cache.unlock(request.locked, false);
      request.locked = null;
      return false;
    }
    request.row = tables.acquire();
    request.pages = match.pages();
    request.cachedPages = match.pages();
    int[] table = tables.ensure(request.row, match.pages() + needed);
    cache.copyPages(request.locked, match.pages(), table);
    int cached = match.pages() * pageTokens;
    if (request.slot != null) {
      sessions.started(request.slot);
      cached += goOnWithPartialPage(request);
    }
    room.makeFree(match.pages() + needed - request.pages);
    boolean partial = request.pages > match.pages();
    allocator.allocExtend(table, request.pages * pageTokens, request.length);
    request.pages = match.pages() + needed;
    if (partial) {
      tiers.drop(request);
    } else {
      cached += pageTokens * tiers.load(request, match.pages(), table);
    }
    request.computed = Math.min(cached, request.length - 1);
    request.rewind();
    request.prefillEnd = request.length;
    return true;
  }

  /** Takes over the page that the session's turn before did not fill; returns its useful tokens. */
  private int goOnWithPartialPage(Request request) {
    int tokens = sessions.partialTokens(request.slot, request.known, request.cachedPages);
    if (tokens > 0) {
      table(request)[request.pages++] = sessions.takePartial(request.slot);
    }
    return tokens;
  }

  /** How many pages are missing to admit a request; 0 or less if there are enough. */
  int shortage(Request request, PrefixMatch match, int headroom) {
    int needed = allocator.pagesFor(request.length) - match.pages();
    return needed + headroom - room.available() + cache.evictablePages(match);
  }

  /**
   * How many pages a waiting request could have if a running one were put back: its own, and those
   * in the cache that it alone has locked. Those that the waiting one would lock do not count.
   */
  int reclaimable(Request victim, Request waiting) {
    int locked = cache.pagesLockedOnce(victim.locked);
    int shared = Math.min(match(waiting).pages(), sharedPages(waiting, victim));
    int wanted = Math.max(0, shared - (victim.cachedPages - locked));
    return victim.pages - victim.cachedPages + locked - wanted;
  }

  /** Makes sure that a request has the page of a position; false if there is none to be had now. */
  boolean ensure(Request request, int position) {
    return position / pageTokens < request.pages || grow(request);
  }

  private boolean grow(Request request) {
    room.makeFree(1);
    int tokens = request.pages * pageTokens + 1;
    if (!allocator.allocDecode(tables.ensure(request.row, request.pages + 1), tokens)) {
      return false;
    }
    request.pages++;
    return true;
  }

  /** Passes the full pages that a request has computed to the cache, and locks them there. */
  void commit(Request request) {
    int computed = request.loadedFrom < 0 ? request.computed : request.loadedFrom;
    int full = computed / pageTokens;
    boolean closed = request.slot != null && request.slot.isClosed();
    if (closed || request.spec.hints().noStore() || full <= request.cachedPages) {
      return;
    }
    PrefixMatch end =
        cache.insert(
            request.locked,
            request.keyIn(cache),
            request.cachedPages,
            full,
            table(request),
            request.stepsInFlight == 0,
            request.spec.service().priority());
    request.locked = end.node();
    request.cachedPages = end.pages();
  }

  /** Takes back the pages of requests that do not run any more. */
  PageReturns returns() {
    return returns;
  }

  /** With how many whole pages of the prompt of a running request a waiting one begins. */
  int sharedPages(Request waiting, Request running) {
    if (options.caching() != PrefixCaching.RADIX) {
      return 0;
    }
    return Request.sharedTokens(waiting, running) / pageTokens;
  }

  int pageTokens() {
    return pageTokens;
  }

  boolean countersAgree() {
    return audit.countersAgree();
  }

  /** Checks every page against the tree and the holders' tables; returns how much was wrong. */
  int repair(List<Request> holders) {
    return audit.repair(holders);
  }

  void close() {
    try (pool) {
      try {
        if (events != null) {
          events.close();
        }
      } finally {
        tiers.close();
      }
    }
  }
}
