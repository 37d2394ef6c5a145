package io.radixflow.engine.cache.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PageAudit;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A small pool with sessions on it, whose turns a test runs by hand; checks every page. */
final class SessionWorld {

  /** A turn that holds pages, as the engine's requests do. */
  static final class Turn {
    final CacheSlot slot;
    final String branch;
    final int[] tokens;
    final int[] table;
    int pages;
    int cachedPages;
    int reusedTokens;
    TreeNode locked;

    private Turn(CacheSlot slot, String branch, int[] tokens, int pages) {
      this.slot = slot;
      this.branch = branch;
      this.tokens = tokens;
      this.table = new int[pages];
    }
  }

  final PageAllocator allocator;
  final RadixCache cache;
  final SessionAwareCache sessions;
  final Map<String, CacheSlot> slots = new LinkedHashMap<>();
  final List<Turn> running = new ArrayList<>();
  final List<CacheSlot> forgotten = new ArrayList<>();

  SessionWorld(int pool, int pageTokens) {
    this(pool, pageTokens, SessionBounds.DEFAULT, "lru");
  }

  SessionWorld(int pool, int pageTokens, SessionBounds bounds, String policy) {
    allocator = new PageAllocator(pool, pageTokens, page -> {});
    cache = new RadixCache(allocator, pageTokens, EvictionPolicies.of(policy, pool, 1), 1);
    sessions = new SessionAwareCache(cache, allocator, bounds, forgotten::add);
  }

  CacheSlot slot(String session) {
    return slots.computeIfAbsent(session, id -> new CacheSlot(id, id.substring(0, 1)));
  }

  private static RadixKey key(int[] tokens) {
    return new RadixKey("", tokens, tokens.length);
  }

  /** Begins a turn: finds what is cached, takes pages for the rest; null if there are too few. */
  Turn begin(String session, String branch, int... tokens) {
    CacheSlot slot = slot(session);
    SessionPosition.Known known = slot.known(tokens, tokens.length);
    PrefixMatch match = sessions.match(key(tokens), known);
    assertThat(match).isEqualTo(cache.match(key(tokens), Integer.MAX_VALUE));
    int size = cache.pageTokens();
    Turn turn = new Turn(slot, branch, tokens, (tokens.length + size - 1) / size);
    if (turn.table.length - match.pages()
        > allocator.free() + sessions.reclaimablePages() - cache.evictablePages(match)) {
      return null;
    }
    turn.locked = cache.lock(key(tokens), match);
    turn.cachedPages = match.pages();
    turn.pages = match.pages();
    cache.copyPages(turn.locked, match.pages(), turn.table);
    sessions.started(slot);
    int partial = sessions.partialTokens(slot, known, match.pages());
    turn.reusedTokens = match.pages() * size + partial;
    if (partial > 0) {
      turn.table[turn.pages++] = sessions.takePartial(slot);
    }
    while (turn.pages < turn.table.length) {
      if (allocator.free() == 0) {
        assertThat(sessions.reclaim(1)).isEqualTo(1);
      }
      turn.table[turn.pages++] = allocator.allocate();
    }
    running.add(turn);
    check();
    return turn;
  }

  /** Passes the turn's first {@code pages} full pages to the cache. */
  void commit(Turn turn, int pages) {
    if (!turn.slot.isClosed() && pages > turn.cachedPages) {
      PrefixMatch end =
          cache.insert(turn.locked, key(turn.tokens), turn.cachedPages, pages, turn.table, true);
      turn.locked = end.node();
      turn.cachedPages = end.pages();
    }
    check();
  }

  /** Ends a turn of which the first {@code computed} tokens were computed. */
  void end(Turn turn, int computed, boolean lasting) {
    commit(turn, computed / cache.pageTokens());
    running.remove(turn);
    SessionPosition end =
        sessions.position(turn.branch, turn.locked, turn.cachedPages, key(turn.tokens), computed);
    boolean partial =
        computed % cache.pageTokens() > 0 && turn.cachedPages == computed / cache.pageTokens();
    sessions.ended(turn.slot, end, true, lasting, partial ? turn.table[turn.cachedPages] : -1);
    for (int i = 0; i < turn.pages; i++) {
      if (allocator.isInFlight(turn.table[i])) {
        allocator.free(turn.table[i]);
      }
    }
    check();
  }

  /** A whole turn on the main branch; returns how many tokens it did not compute. */
  int turn(String session, int... tokens) {
    return turnOf(session, "main", tokens);
  }

  int turnOf(String session, String branch, int... tokens) {
    Turn turn = begin(session, branch, tokens);
    end(turn, tokens.length, true);
    return turn.reusedTokens;
  }

  int close(String session) {
    CacheSlot slot = slots.remove(session);
    int freed = slot == null ? 0 : sessions.close(slot);
    check();
    return freed;
  }

  int cached(int... tokens) {
    return cache.match(key(tokens), Integer.MAX_VALUE).pages() * cache.pageTokens();
  }

  /**
   * Every page has one owner, and every node's claims are those of the positions at or below it.
   */
  void check() {
    assertThat(
            allocator.free()
                + cache.evictablePages()
                + cache.protectedPages()
                + sessions.sessionPages()
                + allocator.inFlight())
        .isEqualTo(allocator.total());
    assertThat(sessions.sessionPages()).isEqualTo(allocator.session());
    assertThat(PageAudit.countersAgree(allocator, cache)).isTrue();
    assertThat(
            PageAudit.repair(
                allocator,
                cache,
                visitor ->
                    running.forEach(
                        turn -> Arrays.stream(turn.table, 0, turn.pages).forEach(visitor::accept)),
                sessions::forEachSessionPage))
        .isZero();
    Map<TreeNode, Integer> claims = new LinkedHashMap<>();
    Set<TreeNode> nodes = new HashSet<>();
    for (CacheSlot slot : slots.values()) {
      for (SessionPosition position : slot.positions()) {
        TreeNode node = position.owner == sessions ? position.resolved() : null;
        for (; node != null && !node.isRoot(); node = node.parent) {
          claims.merge(node, 1, Integer::sum);
        }
      }
    }
    cache.forEachNode(
        node -> {
          nodes.add(node);
          assertThat(node.claims).isEqualTo(claims.getOrDefault(node, 0));
        });
    assertThat(nodes).containsAll(claims.keySet());
  }
}
