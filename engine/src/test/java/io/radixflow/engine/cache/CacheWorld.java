package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.cache.session.Pins;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A small pool, the tree over it, requests that use both, and the naive model beside them; all are
 * compared after each operation.
 */
final class CacheWorld {
  static final int POOL = 48;
  private static final int MOST_HOLDERS = 6;
  private static final int MOST_SESSIONS = 20;
  private static final int PIN_OWNERS = 3;

  /** The common part of all keys of a run, and who evicts. */
  record Setting(int pageTokens, String policy) {}

  enum Kind {
    MATCH,
    START,
    EXTEND,
    EXTEND_WITHOUT_REDIRECT,
    FINISH,
    PUT_BACK,
    RESUME,
    FREE_END,
    RETAIN,
    PIN,
    UNPIN,
    TIME_PASSES,
    EVICT,
    RESET
  }

  /** The next thing to do; the kind decides what the number means. */
  record Operation(Kind kind, String namespace, int[] tokens, int publicTokens, int number) {
    @Override
    public String toString() {
      return "%s %s%s/%d/%d"
          .formatted(kind, namespace, Arrays.toString(tokens), publicTokens, number);
    }
  }

  /** A request that holds pages, as the engine would. */
  private static final class Holder {
    RadixKey key;
    int[] table;
    int pages;
    int locked;
    TreeNode node;
  }

  /** The end of an earlier turn that a session keeps: a node that may have left the tree since. */
  private record Remembered(RadixKey key, TreeNode node, int pages) {}

  private record Pinned(RadixKey key, int pages, long until) {}

  private final int pageTokens;
  private final List<Integer> freed = new ArrayList<>();
  private final List<Integer> freedEver = new ArrayList<>();
  private final PageAllocator allocator = new PageAllocator(POOL, this::freed);
  private final RadixCache cache;
  private final Pins pins;
  private final CachedPages model;
  private final List<Holder> holders = new ArrayList<>();
  private final List<Remembered> sessions = new ArrayList<>();
  private final Map<Integer, Pinned> pinned = new HashMap<>();
  private long now;

  /**
   * @param seed of the tree's hashes
   */
  CacheWorld(Setting setting, long seed) {
    pageTokens = setting.pageTokens;
    EvictionPolicy policy = EvictionPolicies.of(setting.policy, POOL, 1);
    cache = new RadixCache(allocator, setting.pageTokens, policy, seed);
    pins = new Pins(cache, POOL);
    model = new CachedPages(pageTokens, setting.policy);
  }

  private void freed(int page) {
    freed.add(page);
    freedEver.add(page);
  }

  /** Returns all pages that were freed, in the order in which they were. */
  List<Integer> freedEver() {
    return freedEver;
  }

  void apply(Operation operation) {
    switch (operation.kind) {
      case MATCH -> match(key(operation));
      case START -> start(key(operation));
      case EXTEND -> extend(operation.number, true);
      case EXTEND_WITHOUT_REDIRECT -> extend(operation.number, false);
      case FINISH -> finish(operation.number, true);
      case PUT_BACK -> finish(operation.number, false);
      case RESUME -> resume(operation.tokens, operation.number);
      case FREE_END -> freeEnd(operation.number);
      case RETAIN -> retain(operation.number);
      case PIN -> pin(operation.number);
      case UNPIN -> unpin(operation.number % PIN_OWNERS);
      case TIME_PASSES -> timePasses(operation.number);
      case EVICT -> evict(operation.number);
      case RESET -> reset();
    }
    check();
  }

  private RadixKey key(Operation of) {
    int publicTokens = Math.min(of.publicTokens, of.tokens.length);
    return new RadixKey(of.namespace, of.tokens, of.tokens.length, publicTokens);
  }

  private PrefixMatch match(RadixKey key) {
    int nodes = cache.nodes();
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    assertThat(match.pages()).isEqualTo(model.match(key).size());
    assertThat(cache.nodes()).isEqualTo(nodes);
    return match;
  }

  private void start(RadixKey key) {
    if (holders.size() == MOST_HOLDERS) {
      finish(0, true);
    }
    Holder holder = new Holder();
    holder.key = key;
    PrefixMatch match = match(key);
    holder.node = cache.lock(key, match);
    model.lock(key, 0, match.pages());
    int all = key.pages(pageTokens);
    holder.table = new int[all];
    holder.pages = match.pages();
    holder.locked = match.pages();
    cache.copyPages(holder.node, match.pages(), holder.table);
    assertThat(Arrays.stream(holder.table, 0, match.pages()).boxed())
        .containsExactlyElementsOf(model.match(key));
    while (holder.pages < all && allocator.free() > 0) {
      holder.table[holder.pages++] = allocator.allocate();
    }
    holders.add(holder);
  }

  private void extend(int number, boolean redirect) {
    if (holders.isEmpty()) {
      return;
    }
    Holder holder = holders.get(number % holders.size());
    int to = Math.min(holder.pages, holder.locked + 1 + number % 4);
    int priority = number % 3;
    List<Integer> cached = model.match(holder.key);
    PrefixMatch end =
        cache.insert(holder.node, holder.key, holder.locked, to, holder.table, redirect, priority);
    model.tick();
    for (int i = holder.locked; i < end.pages(); i++) {
      if (i < cached.size()) {
        assertThat(holder.table[i]).isEqualTo(cached.get(i));
      } else {
        model.add(holder.key, i, holder.table[i], priority);
      }
    }
    boolean duplicates = cached.size() > holder.locked;
    assertThat(end.pages())
        .isEqualTo(duplicates && !redirect ? holder.locked : Math.max(to, holder.locked));
    model.lock(holder.key, holder.locked, end.pages());
    model.raise(holder.key, end.pages(), priority);
    holder.locked = end.pages();
    holder.node = end.node();
  }

  private void finish(int number, boolean hit) {
    if (holders.isEmpty()) {
      return;
    }
    Holder holder = holders.remove(number % holders.size());
    for (int i = 0; i < holder.pages; i++) {
      if (allocator.isInFlight(holder.table[i])) {
        allocator.free(holder.table[i]);
      }
    }
    if (sessions.size() == MOST_SESSIONS) {
      sessions.remove(0);
    }
    sessions.add(new Remembered(holder.key, holder.node, holder.locked));
    cache.unlock(holder.node, hit);
    model.unlock(holder.key, holder.locked, hit);
  }

  /** A later turn has the tokens of an earlier one and others after them. */
  private void resume(int[] more, int number) {
    if (sessions.isEmpty()) {
      return;
    }
    Remembered session = sessions.get(number % sessions.size());
    RadixKey before = session.key;
    int[] tokens = Arrays.copyOf(before.tokens(), before.length() + more.length);
    System.arraycopy(more, 0, tokens, before.length(), more.length);
    RadixKey key = new RadixKey(before.namespace(), tokens, tokens.length, before.publicTokens());
    int limit = number > 9 ? number : Integer.MAX_VALUE;
    PrefixMatch resumed = cache.match(key, limit, session.node, session.pages);
    assertThat(resumed).isEqualTo(cache.match(key, limit));
    assertThat(resumed.pages()).isEqualTo(Math.min(limit, model.match(key).size()));
  }

  /** A session's end is freed as far as it can be, never what others hold or extend. */
  private void freeEnd(int number) {
    if (sessions.isEmpty()) {
      return;
    }
    Remembered session = sessions.get(number % sessions.size());
    int cached = Math.min(session.pages, model.match(session.key).size());
    freed.clear();
    int count = cache.freeEnd(session.node, session.pages, number % 3);
    assertThat(count).isLessThanOrEqualTo(Math.max(0, cached - number % 3));
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      expected.add(model.removeFree(session.key, cached - i));
    }
    assertThat(freed).isEqualTo(expected);
  }

  private void retain(int number) {
    if (holders.isEmpty()) {
      return;
    }
    Holder holder = holders.get(number % holders.size());
    int from = Math.min(number % 5, holder.locked);
    int to = Math.min(from + 1 + number % 3, holder.locked);
    int priority = number % 4 - 1;
    long until = now + 1 + number;
    cache.retain(holder.node, from, to, priority, until);
    model.retain(holder.key, from, to, priority, until);
  }

  /** Keeps a request's prefix also after its end. */
  private void pin(int number) {
    if (holders.isEmpty()) {
      return;
    }
    int owner = number % PIN_OWNERS;
    unpin(owner);
    Holder holder = holders.get(number % holders.size());
    long until = now + PIN_OWNERS * (1 + number) + owner;
    if (pins.pin(owner, "tenant" + owner, holder.node, until)) {
      model.lock(holder.key, 0, holder.locked);
      pinned.put(owner, new Pinned(holder.key, holder.locked, until));
    }
  }

  private void unpin(int owner) {
    pins.unpin(owner);
    released(pinned.remove(owner));
  }

  private void released(Pinned pin) {
    if (pin != null) {
      model.unlock(pin.key, pin.pages, false);
    }
  }

  private void timePasses(int number) {
    now += number;
    List<Map.Entry<Integer, Pinned>> ended =
        pinned.entrySet().stream()
            .filter(pin -> pin.getValue().until <= now)
            .sorted(Comparator.comparingLong(pin -> pin.getValue().until))
            .toList();
    for (Map.Entry<Integer, Pinned> pin : ended) {
      pins.expire(pin.getValue().until);
      released(pinned.remove(pin.getKey()));
    }
    pins.expire(now);
    assertThat(pins.pages()).isEqualTo(pinned.values().stream().mapToInt(Pinned::pages).sum());
    cache.expire(now);
    model.expire(now);
  }

  private void evict(int count) {
    int expected = Math.min(count, model.evictable());
    freed.clear();
    assertThat(cache.evict(count)).isEqualTo(expected);
    assertThat(freed).hasSize(expected);
    for (int page : freed) {
      assertThat(model.evict(page)).as("why page %d should have stayed", page).isNull();
    }
  }

  private void reset() {
    endAll();
    cache.reset();
    assertThat(cache.nodes()).isZero();
    freed.clear();
    for (int page : model.numbers()) {
      assertThat(allocator.agrees(page, false, false, false)).isTrue();
    }
    model.clear();
  }

  private void endAll() {
    while (!holders.isEmpty()) {
      finish(0, true);
    }
    for (int owner = 0; owner < PIN_OWNERS; owner++) {
      unpin(owner);
    }
  }

  /** All requests end, and everything is evicted. */
  void close() {
    endAll();
    check();
    evict(POOL);
    check();
    assertThat(allocator.free()).isEqualTo(POOL);
    assertThat(cache.nodes()).isZero();
  }

  private void check() {
    assertThat(cache.evictablePages()).isEqualTo(model.evictable());
    assertThat(cache.evictablePages() + cache.protectedPages()).isEqualTo(model.size());
    assertThat(allocator.free() + model.size() + allocator.inFlight()).isEqualTo(POOL);
    int[] cached = new int[model.size()];
    int[] count = {0};
    cache.forEachPage(page -> cached[count[0]++] = page);
    Arrays.sort(cached);
    assertThat(cached).isEqualTo(model.numbers());
    assertThat(PageAudit.countersAgree(allocator, cache)).isTrue();
    assertThat(
            PageAudit.repair(
                allocator,
                cache,
                visitor ->
                    holders.forEach(
                        holder ->
                            IntStream.range(0, holder.pages)
                                .forEach(i -> visitor.accept(holder.table[i]))),
                sessions -> {}))
        .isZero();
  }
}
