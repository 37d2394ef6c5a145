package io.radixflow.engine.pages;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.PoolStats;
import io.radixflow.engine.SessionStats;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PageAudit;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.cache.session.SessionAwareCache;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The pages of running requests: taken from the cache and the pool at admission, grown token by
 * token, passed to the cache as they are computed, and given back at the end.
 *
 * <p>A running request's page table, by page index; each range has one owner:
 *
 * <pre>
 *   [0 .. cached)      in the cache, shared, locked up to {@code locked}
 *   [cached .. count)  the request's own, in flight; of these
 *                      [.. computed / pageTokens)  full: {@link #commit} gives them to the cache
 *                      [.. count)                  filled by the steps to come
 * </pre>
 *
 * <p>{@link #admit} fills the ranges in this order: pages found in the cache, the partial page that
 * the session's previous turn has left, pages loaded from the tiers below, pages to be computed.
 *
 * <p>A page that the tiers below copy when it leaves the cache is free only after the copy has
 * ended. So pages are requested before they are needed.
 *
 * <p>Engine thread only.
 */
public final class KvPages {
  /** A page is made free when a request is this many tokens away from needing it. */
  private static final int TOKENS_AHEAD = 4;

  private final KvPool pool;
  private final CacheOptions options;
  private final CachedSessions slots;
  private final Tiers tiers;
  private final RequestLoads loads;
  private final LongSupplier clock;
  private final int pageTokens;
  private final int maxRunning;
  private final int window;
  private RequestComponent parts;
  private PageAllocator allocator;
  private RadixCache cache;
  private SessionAwareCache sessions;
  private ReqToTokenPool tables;
  private HintApplier hints;
  private long evicted;

  /** The feed of KV events; null if they are disabled. */
  private KvEventFeed events;

  /**
   * @param maxRunning number of requests that have pages at the same time, including ended requests
   *     that wait for a step in flight
   * @param window tokens that a query sees in the layers of the pool's window parts
   * @param options which pages requests share
   * @param slots drops sessions that have nothing cached
   * @param tiers the tiers below the pool
   * @param clock milliseconds that never decrease
   */
  public KvPages(
      KvPool pool,
      int maxRunning,
      int window,
      CacheOptions options,
      CachedSessions slots,
      Tiers tiers,
      LongSupplier clock) {
    this.tiers = tiers;
    this.loads =
        new RequestLoads(
            tiers, pool.pageTokens(), request -> match(request).pages(), this::loadEnded);
    this.pool = pool;
    this.options = options;
    this.slots = slots;
    this.clock = clock;
    this.maxRunning = maxRunning;
    this.window = window;
    this.pageTokens = pool.pageTokens();
    reset();
  }

  /** Empties pool and cache: all pages are free afterwards. */
  public final void reset() {
    parts = RequestComponent.of(pool, window);
    allocator = new PageAllocator(pool.pages(), pageTokens, this::freed);
    cache = options.open(allocator, pageTokens);
    cache.use(parts.component());
    loads.reset();
    tiers.attach(cache, allocator);
    if (events != null) {
      cache.listen(events, events.tokenIds());
      events.restart();
    }
    slots.closeAll();
    if (sessions != null) {
      sessions.abandon();
    }
    sessions = new SessionAwareCache(cache, allocator, options.sessions(), slots::dropped);
    hints = new HintApplier(cache, allocator, clock);
    tables = new ReqToTokenPool(maxRunning);
  }

  private void freed(int page) {
    parts.component().pageFreed(page);
    pool.discard(page);
  }

  /** Reports changes of the cache to a sink from now on. The cache must be empty. */
  public void publish(KvEventSink sink) {
    events = new KvEventFeed(sink, this::content);
    cache.listen(events, events.tokenIds());
    tiers.listen(events);
  }

  /**
   * Returns the content of the cache and of the tiers below it. Each page comes after its parent.
   */
  public List<KvEvent.Stored> content() {
    return Stream.concat(cache.content().stream(), tiers.content().stream()).toList();
  }

  /** Returns the tiers below the pool. */
  public Tiers tiers() {
    return tiers;
  }

  public RequestLoads loads() {
    return loads;
  }

  /** Passes on the changes of the cache since the last call. */
  public void flushEvents() {
    if (events != null) {
      events.flush();
    }
  }

  /**
   * @param repairs how often {@link #repair} had something to repair
   */
  public PoolStats stats(long repairs) {
    return new PoolStats(
        allocator.total(),
        allocator.free(),
        cache.evictablePages(),
        cache.protectedPages(),
        allocator.inFlight(),
        evicted,
        repairs,
        parts.stats());
  }

  public KvEventStats eventStats() {
    return events == null ? KvEventStats.NONE : events.stats();
  }

  public KvPool pool() {
    return pool;
  }

  public PageAllocator allocator() {
    return allocator;
  }

  public RadixCache cache() {
    return cache;
  }

  /**
   * @param tokensAhead number of tokens computed ahead for future turns
   */
  public SessionStats sessionStats(long tokensAhead) {
    return new SessionStats(
        sessions.hotSlots(),
        sessions.slots(),
        sessions.sessionPages(),
        hints.pins().pages(),
        hints.pins().refused(),
        tokensAhead);
  }

  /** Ends the expired pins and priorities. */
  public void expireHints() {
    hints.expire();
  }

  /** See {@link SessionAwareCache#cut}; a pin of the turn moves to the new position. */
  public SessionPosition cut(Request turn, SessionPosition end, int tokens) {
    boolean pinned =
        turn.spec.hints().pinMillis() > 0 && SessionAwareCache.isPositionOf(turn.slot, end);
    if (pinned) {
      hints.pins().unpin(turn.slot);
    }
    SessionPosition position = sessions.cut(turn.slot, end, tokens);
    if (position != null) {
      eraseLeft(end, turn.slot);
    }
    if (pinned) {
      PrefixMatch kept = cache.match(turn.keyIn(cache), tokens / pageTokens);
      TreeNode locked = cache.lock(turn.keyIn(cache), kept);
      hints.pin(turn, locked, kept.pages());
      cache.unlock(locked, false);
    }
    return position;
  }

  /**
   * Admits a request as {@link #admit} does, if there is something to compute or pin and there are
   * enough free pages.
   */
  public boolean admitFree(Request request, PrefixMatch match) {
    int cached = match.pages() * pageTokens;
    cached += partialTokens(request, match.pages());
    int needed = allocator.pagesFor(request.tokens.length()) - match.pages();
    boolean useful = cached < request.tokens.length() || request.spec.hints().pinMillis() > 0;
    return useful && needed <= allocator.free() && admit(request, match, 0);
  }

  /** Ends the pin of a session, if there is one. */
  public void unpin(CacheSlot slot) {
    hints.pins().unpin(slot);
  }

  /** Frees the pages that only a session uses, and erases them in the tiers below. */
  public void close(CacheSlot slot) {
    List<SessionPosition> positions = slot.positions();
    hints.pins().unpin(slot);
    sessions.close(slot);
    positions.forEach(position -> tiers.erase(position.fullPages(), 0));
  }

  /**
   * Erases, below the device, the pages before a position from which a session no longer continues.
   *
   * @param left null if there is none
   */
  private void eraseLeft(SessionPosition left, CacheSlot slot) {
    if (left != null) {
      tiers.erase(left.fullPages(), left.sharedPages(slot.positions()));
    }
  }

  /**
   * Records where a request continues its session, and names its pages. The request's prompt is
   * complete. Any thread that owns the request.
   */
  public void prepare(Request request) {
    if (request.slot != null) {
      request.pages.know(request.slot.known(request.tokens.ids(), request.tokens.length()));
    }
    loads.name(request);
  }

  /** Takes the page table from a request whose pages were lost when the pool was emptied. */
  public void forget(Request request) {
    request.pages.end();
  }

  /** Returns the page table of a running request. */
  public int[] table(Request request) {
    return tables.pages(request.pages.row());
  }

  /**
   * Returns the longest cached prefix of all of a waiting request's tokens that can be used.
   * Searches only if the tree or the window parts have changed since the last search, and resumes
   * where that search ended. If a request's prompt is scored, a page counts only if all of its rows
   * are already scored, because a cached page contains no scores.
   */
  public PrefixMatch match(Request request) {
    long version = cache.version();
    if (request.pages.match() != null && request.pages.matchVersion() == version) {
      return request.pages.match();
    }
    PrefixMatch found = find(request);
    request.pages.find(found, cache.component().usable(found), version);
    return request.pages.match();
  }

  private PrefixMatch find(Request request) {
    RadixKey key = request.keyIn(cache);
    if (request.reply.scores() != null) {
      return cache.match(key, request.reply.scores().rows() / pageTokens);
    }
    PrefixMatch last = request.pages.found();
    return request.pages.match() == null
        ? sessions.match(key, request.pages.known())
        : cache.match(key, Integer.MAX_VALUE, last.node(), last.pages());
  }

  /**
   * Gives a request the pages of all its tokens. In the request's table, with {@code m} matched
   * pages:
   *
   * <pre>
   *   [0 .. m)      from the cache, shared and locked
   *   [m .. m + p)  the page that the session's previous turn did not fill; p is 0 or 1
   *   [m + p .. n)  allocated; if p is 0, the first of them may be loaded from the tiers below
   * </pre>
   *
   * <p>If all of them are cached, the last token is computed again for its logits: it writes the
   * same bits into its slot, because a KV entry depends only on the prefix.
   *
   * @param headroom number of pages that must remain so that other requests can grow
   * @return whether there were enough pages
   */
  public boolean admit(Request request, PrefixMatch match, int headroom) {
    if (tables.free() == 0 || !parts.hasRoomFor(request)) {
      return false;
    }
    if (shortage(request, match, headroom) > 0) {
      // pins must not block a request that would run alone
      return headroom == 0 && hints.pins().unpinAll() && admit(request, match(request), headroom);
    }
    int needed = allocator.pagesFor(request.tokens.length()) - match.pages();
    TreeNode locked = cache.lock(request.keyIn(cache), match);
    if (!isRoomReady(needed)) {
      cache.unlock(locked, false);
      return false;
    }
    request.pages.begin(tables.acquire(), locked, match.pages());
    int[] table = tables.ensure(request.pages.row(), match.pages() + needed);
    cache.copyPages(locked, match.pages(), table);
    int cached = match.pages() * pageTokens;
    if (request.slot != null) {
      sessions.started(request.slot);
      cached += takePartialPage(request);
    }
    makeFree(match.pages() + needed - request.pages.count());
    boolean partial = request.pages.count() > match.pages();
    int filled = request.pages.count();
    allocator.allocExtend(table, request.pages.count() * pageTokens, request.tokens.length());
    request.pages.grow(match.pages() + needed);
    // the parts are locked before the load, which might otherwise take the parts of cached pages
    int found = Math.max(match.pages(), request.pages.found().pages());
    parts.admitted(request, table, computed(request, cached), found, filled);
    if (partial) {
      loads.drop(request);
    } else {
      int loaded = loads.load(request, match.pages(), table);
      cached += pageTokens * loaded;
      parts.loads(request, match.pages(), loaded);
    }
    request.steps.begin(computed(request, cached));
    return true;
  }

  /** Returns how many cached tokens count as computed. */
  private static int computed(Request request, int cached) {
    return Math.min(cached, request.tokens.length() - 1);
  }

  private void loadEnded(Request request, boolean failed) {
    if (!failed) {
      parts.loaded(request, table(request));
    } else if (request.steps.inFlight() == 0) {
      parts.rewound(request, table(request));
    }
  }

  /** Returns whether a request's window parts fit next to the parts of the running requests. */
  public boolean hasWindowFor(Request request) {
    return parts.hasRoomFor(request);
  }

  /** Takes the page that the session's previous turn did not fill; returns its useful tokens. */
  private int takePartialPage(Request request) {
    int tokens = partialTokens(request, request.pages.cached());
    if (tokens > 0) {
      table(request)[request.pages.count()] = sessions.takePartial(request.slot);
      request.pages.grow(request.pages.count() + 1);
    }
    return tokens;
  }

  private int partialTokens(Request request, int matchedPages) {
    if (request.reply.scores() != null) {
      return 0;
    }
    int tokens = sessions.partialTokens(request.slot, request.pages.known(), matchedPages);
    return tokens > 0 && cache.component().has(request.slot.partialPage()) ? tokens : 0;
  }

  /** Returns how many pages are missing to admit a request; 0 or less if there are enough. */
  public int shortage(Request request, PrefixMatch match, int headroom) {
    int needed = allocator.pagesFor(request.tokens.length()) - match.pages();
    return needed + headroom - availablePages() + cache.evictablePages(match);
  }

  /**
   * Returns how many pages a waiting request gains if a running one is preempted: its own pages,
   * and cached pages that only it has locked. Pages that the waiting request would lock do not
   * count.
   */
  public int reclaimable(Request victim, Request waiting) {
    int locked = cache.pagesLockedOnce(victim.pages.locked());
    int shared = Math.min(match(waiting).pages(), sharedPages(waiting, victim));
    int wanted = Math.max(0, shared - (victim.pages.cached() - locked));
    return victim.pages.count() - victim.pages.cached() + locked - wanted;
  }

  /**
   * Makes sure that a request has the page of a position, with its window part; returns false if no
   * page or part is free now.
   */
  public boolean ensure(Request request, int position) {
    return (position / pageTokens < request.pages.count() || grow(request))
        && parts.extend(request, table(request), position + 1) > position;
  }

  /** Returns whether a request has the page of its next position, but not its window part. */
  public boolean lacksPart(Request request) {
    return request.steps.scheduled() / pageTokens < request.pages.count();
  }

  /**
   * Gives the positions of a request's next step the parts that they lack, as far as parts are
   * available.
   *
   * @param rows number of positions; the request has all of their pages
   * @return how many of them the step can compute
   */
  public int prepare(Request request, int rows) {
    int from = request.steps.scheduled();
    return parts.extend(request, table(request), from + rows) - from;
  }

  /**
   * Gives the positions of drafts the pages and parts that they lack, unless other running requests
   * may need them.
   *
   * @param position the position of the first draft
   * @param running number of requests that may each need a page
   * @return how many of them the step can compute
   */
  public int prepareDrafts(Request request, int position, int drafts, int running) {
    int end = position + drafts;
    while (request.pages.count() * pageTokens < end
        && availablePages() > running
        && grow(request)) {}
    end = Math.min(end, request.pages.count() * pageTokens);
    return Math.max(0, parts.extend(request, table(request), end) - position);
  }

  /** A step of a running request has ended, and its tokens are computed. */
  public void computed(Request request) {
    parts.computed(request, table(request));
  }

  /** The steps of a running request have failed, and none is in flight. */
  public void rewound(Request request) {
    parts.rewound(request, table(request));
  }

  private boolean grow(Request request) {
    makeFree(1);
    int tokens = request.pages.count() * pageTokens + 1;
    if (!allocator.allocDecode(
        tables.ensure(request.pages.row(), request.pages.count() + 1), tokens)) {
      return false;
    }
    request.pages.grow(request.pages.count() + 1);
    return true;
  }

  /**
   * Passes the full pages that a request has computed to the cache, and locks them there:
   *
   * <pre>
   *   [0 .. cached)     in the cache before
   *   [cached .. full)  inserted now; where the cache has an equal page, the table gets that page and the request's page is freed; if a step in flight reads it, the insertion ends there instead
   *   [full .. count)   stay the request's own
   * </pre>
   */
  public void commit(Request request) {
    int full = loads.settledTokens(request) / pageTokens;
    boolean closed = request.slot != null && request.slot.isClosed();
    if (closed || request.spec.hints().noStore() || full <= request.pages.cached()) {
      return;
    }
    PrefixMatch end =
        cache.insert(
            request.pages.locked(),
            request.keyIn(cache),
            request.pages.cached(),
            full,
            table(request),
            request.steps.inFlight() == 0,
            request.spec.service().priority());
    request.pages.commit(end);
  }

  /** Returns how many whole pages of a running request's prompt a waiting request begins with. */
  public int sharedPages(Request waiting, Request running) {
    if (options.caching() != PrefixCaching.RADIX) {
      return 0;
    }
    return Request.sharedTokens(waiting, running) / pageTokens;
  }

  /**
   * Records that another request awaits a prefix of a running request.
   *
   * @param pages the pages of the prefix
   */
  public void await(Request running, int pages) {
    parts.awaited(running, pages);
  }

  /**
   * Copies the tokens that the cache has after the tokens of a running request.
   *
   * @param into receives as many tokens as it has room for
   */
  public int copyContinuation(Request request, int[] into) {
    return cache.copyContinuation(
        request.keyIn(cache), request.pages.locked(), request.pages.cached(), into);
  }

  public int pageTokens() {
    return pageTokens;
  }

  // ---- giving pages back

  /**
   * Takes all pages from a preempted request, which resumes later from the pages that are still
   * cached.
   */
  public void preempt(Request request) {
    parts.release(request, table(request));
    SessionPosition end = end(request);
    if (request.slot == null) {
      cache.unlock(request.pages.locked(), false);
    } else {
      SessionPosition left = sessions.ended(request.slot, end, false, true, -1);
      // a request that was preempted before its session's position will pass the position again
      if (left != null && !end.isBefore(left)) {
        eraseLeft(left, request.slot);
      }
    }
    free(request);
    request.pages.know(new SessionPosition.Known(end, request.tokens.length()));
  }

  /**
   * Takes all pages from a request that has ended: its shared pages become evictable, and its own
   * pages are freed, except a partial last page that its session keeps. Counts as one use of its
   * prefix.
   *
   * @return the position from which its session continues, or null if it continues elsewhere
   */
  public SessionPosition release(Request request) {
    parts.release(request, table(request));
    hints.ended(request);
    SessionPosition end = null;
    boolean closed = request.slot != null && request.slot.isClosed();
    if (!closed && !request.hasFailed() && !request.spec.hints().noStore()) {
      tiers.used(request.pages.locked());
    }
    if (request.slot == null) {
      cache.unlock(request.pages.locked(), true);
    } else {
      SessionPosition last = end(request);
      SessionPosition left =
          sessions.ended(
              request.slot, last, !request.ahead, request.isComplete(), partialPage(request));
      if (!closed) {
        eraseLeft(left, request.slot);
      }
      end = SessionAwareCache.isPositionOf(request.slot, last) ? last : null;
    }
    free(request);
    if (closed) {
      tiers.erase(request.keyIn(cache), 0);
    }
    return end;
  }

  /**
   * Returns the page at {@code cached} if all full pages are cached and that page has tokens;
   * otherwise -1.
   */
  private int partialPage(Request request) {
    boolean partial =
        !request.hasFailed()
            && !request.spec.hints().noStore()
            && request.steps.computed() % pageTokens > 0;
    return partial && request.pages.cached() == request.steps.computed() / pageTokens
        ? table(request)[request.pages.cached()]
        : -1;
  }

  private SessionPosition end(Request request) {
    String branch = request.slot == null ? "" : request.spec.session().branch();
    return sessions.position(
        branch,
        request.pages.locked(),
        request.pages.cached(),
        request.keyIn(cache),
        request.steps.computed());
  }

  /**
   * Frees {@code [cached .. count)} and the row. Some of the earlier pages may also be in flight,
   * because they are leaving the cache; the tiers free these pages.
   */
  private void free(Request request) {
    int[] table = table(request);
    allocator.beginFreeGroup();
    for (int i = 0; i < request.pages.count(); i++) {
      if (allocator.isInFlight(table[i]) && !tiers.isLeaving(table[i])) {
        allocator.free(table[i]);
      }
    }
    allocator.endFreeGroup();
    tables.release(request.pages.row());
    request.pages.end();
  }

  // ---- room: evicting what no request uses

  /** Returns whether pages or window parts that are in use now will soon be free. */
  public boolean awaitsPages() {
    return tiers.leavingPages() > 0 || tiers.lockedParts() > 0;
  }

  /** Returns the number of pages that are free or can be freed. */
  private int availablePages() {
    return allocator.free() + sessions.reclaimablePages();
  }

  /**
   * Starts freeing pages if that may take a while.
   *
   * @return whether the pages are free, or can be freed immediately
   */
  private boolean isRoomReady(int pages) {
    boolean copiesFirst =
        tiers.leavingPages() > 0 || tiers.copiesLeavingPages() && allocator.free() < pages;
    return !copiesFirst || makeFree(pages);
  }

  /** Starts freeing the pages that running requests are about to need, if that takes a while. */
  public void makeFreeAhead(List<Request> running) {
    if (!tiers.copiesLeavingPages()) {
      return;
    }
    int soon = 0;
    for (int i = 0; i < running.size(); i++) {
      Request request = running.get(i);
      int position =
          Math.min(request.steps.scheduled() + TOKENS_AHEAD, request.tokens.maxLength() - 2);
      soon += position / pageTokens >= request.pages.count() ? 1 : 0;
    }
    makeFree(soon);
  }

  /**
   * Evicts pages until {@code pages} are free, or will be free after they have been copied.
   *
   * @return whether they are free now
   */
  private boolean makeFree(int pages) {
    int missing = missing(pages);
    for (int freed = 1; missing > 0 && freed > 0; missing = missing(pages)) {
      freed = sessions.reclaim(missing);
      evicted += freed;
    }
    return allocator.free() >= pages;
  }

  private int missing(int pages) {
    return pages - allocator.free() - tiers.leavingPages();
  }

  // ---- audit: each page has exactly one owner

  public boolean countersAgree() {
    return PageAudit.countersAgree(allocator, cache);
  }

  /**
   * Checks every page of device and host against the tree and the holders' tables. Repairs the
   * pages of the device.
   *
   * @return how many pages and counters were wrong
   */
  public int repair(List<Request> holders) {
    int wrong = tiers.audit() ? 0 : 1;
    wrong +=
        PageAudit.repair(
            allocator,
            cache,
            visitor -> visitInFlight(holders, visitor),
            sessions::forEachSessionPage);
    return wrong
        + PageAudit.repair(
            cache.component(), allocator, visitor -> visitLockedParts(holders, visitor));
  }

  private void visitLockedParts(List<Request> holders, IntConsumer visitor) {
    forEachHolder(holders, each -> parts.forEachLocked(each, table(each), visitor));
    tiers.forEachLockedPart(visitor);
  }

  private void visitInFlight(List<Request> holders, IntConsumer visitor) {
    forEachHolder(holders, each -> visitTable(each, visitor));
    tiers.forEachLeavingPage(visitor);
  }

  private void forEachHolder(List<Request> holders, Consumer<Request> visitor) {
    holders.forEach(visitor);
    loads.copying().stream().filter(each -> !holders.contains(each)).forEach(visitor);
  }

  private void visitTable(Request holder, IntConsumer visitor) {
    int[] table = table(holder);
    for (int i = 0; i < holder.pages.count(); i++) {
      visitor.accept(table[i]);
    }
  }

  public void close() {
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
