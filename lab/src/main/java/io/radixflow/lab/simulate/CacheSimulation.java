package io.radixflow.lab.simulate;

import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.WindowParts;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.cache.session.SessionAwareCache;
import io.radixflow.engine.cache.session.SessionBounds;
import io.radixflow.engine.cache.session.SessionPosition;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Simulates a workload's requests on a cache of a given size and policy. The simulation's own
 * {@link RadixCache}, in which a page is one block, answers them one after the other. The longest
 * cached prefix is a hit. Then all blocks are stored, and pages that the request does not use are
 * evicted for them. Blocks without room are not stored. The policy knows nothing about the future.
 *
 * <p>With hints, a {@link SessionAwareCache} knows the sessions, as in the engine: a closed session
 * frees pages that no other session uses. Pages that {@link LowerTiers} find below the cache are
 * loaded, and the tiers count them.
 *
 * <p>With window parts a prefix is a hit as far as it can be used with them, and a request locks
 * and releases the parts of its window as it continues, as in the engine.
 */
public final class CacheSimulation {

  /**
   * The result of a simulation.
   *
   * @param hits blocks of prompts that were found
   * @param evicted blocks that were evicted
   * @param freed blocks that were freed because their session was closed
   */
  public record Result(long hits, long evicted, long freed) {}

  private final CacheWorkload workload;
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final int[] blocks;
  private final int[] table;
  private final SessionAwareCache sessions;
  private final LowerTiers below;
  private final CacheComponent parts;
  private final Map<String, CacheSlot> slots = new HashMap<>();
  private long hits;
  private long evicted;
  private long freed;

  private CacheSimulation(
      CacheWorkload workload,
      int capacity,
      EvictionPolicy policy,
      boolean hints,
      LowerTiers below,
      CacheComponent parts) {
    this.workload = workload;
    this.below = below;
    this.parts = parts;
    this.allocator = new PageAllocator(capacity, parts::pageFreed);
    this.cache = new RadixCache(allocator, 1, policy, 0);
    this.sessions =
        hints
            ? new SessionAwareCache(
                cache, allocator, SessionBounds.DEFAULT, slot -> slots.remove(slot.session()))
            : null;
    below.attach(cache, allocator);
    this.blocks = new int[workload.longest()];
    this.table = new int[blocks.length];
  }

  /** Serves the whole workload with nothing below the cache. */
  public static Result run(
      CacheWorkload workload, int capacity, EvictionPolicy policy, boolean hints) {
    return run(workload, capacity, policy, hints, LowerTiers.NONE);
  }

  /**
   * Serves the whole workload.
   *
   * @param capacity pages of the cache, one block each
   * @param policy a new policy, made for that many pages
   * @param hints whether the cache gets hints about sessions as soon as they are known
   * @param below new tiers; the caller keeps and closes them
   */
  public static Result run(
      CacheWorkload workload,
      int capacity,
      EvictionPolicy policy,
      boolean hints,
      LowerTiers below) {
    return new CacheSimulation(workload, capacity, policy, hints, below, CacheComponent.NONE)
        .run(hints);
  }

  /**
   * Serves the whole workload on a pool with window parts.
   *
   * @param parts window parts, at least two more than {@code windowPages}
   * @param windowPages pages of a window
   */
  public static Result run(
      CacheWorkload workload,
      int capacity,
      int parts,
      int windowPages,
      EvictionPolicy policy,
      boolean hints) {
    WindowParts windows =
        new WindowParts(windowPages, 1, capacity, parts, (page, part) -> {}, part -> {});
    return new CacheSimulation(workload, capacity, policy, hints, LowerTiers.NONE, windows)
        .run(hints);
  }

  private Result run(boolean hints) {
    int closing = 0;
    for (int request = 0; request < workload.requests(); request++) {
      while (hints && closing < workload.closings() && workload.closedBefore(closing) <= request) {
        close(workload.closedSession(closing++));
      }
      serve(request);
    }
    return new Result(hits, evicted, freed);
  }

  private void serve(int request) {
    workload.copyBlocks(request, blocks);
    int size = workload.size(request);
    RadixKey key = new RadixKey("", blocks, size);
    CacheSlot slot = slot(request);
    PrefixMatch found =
        slot == null ? cache.match(key, size) : sessions.match(key, slot.known(blocks, size));
    PrefixMatch match = parts.usable(found);
    hits += Math.min(match.pages(), workload.inputs(request));
    below.look(new RadixKey("", blocks, workload.inputs(request)), match.pages());
    TreeNode node = cache.lock(key, match);
    int end = allocate(match.pages(), size);
    below.fill(key, match.pages(), end, table);
    node = cache.insert(node, key, match.pages(), end, table, true).node();
    below.ended(node);
    if (parts.endPages() > 0) {
      cache.copyPages(node, end, table);
      passWindow(match.pages(), end, Math.min(workload.inputs(request), end), found.pages());
    }
    if (slot == null) {
      cache.unlock(node);
    } else {
      String branch = Integer.toString(workload.branch(request));
      sessions.started(slot);
      RadixKey kept = new RadixKey("", Arrays.copyOf(blocks, end), end);
      sessions.ended(slot, sessions.position(branch, node, end, kept, end), true, true, -1);
    }
  }

  /**
   * Gives new pages their window parts one after the other, and releases parts that are no longer
   * in the window.
   *
   * @param from pages that were used from the cache
   * @param to end of the pages in the table
   * @param ends further ends from which another request may continue
   */
  private void passWindow(int from, int to, int... ends) {
    int size = parts.endPages();
    int first = Math.max(0, from - size);
    for (int i = first; i < from; i++) {
      parts.lock(table[i]);
    }
    for (int i = from; i < to; i++) {
      parts.attach(table[i]);
      for (; first <= i - size; first++) {
        int page = first;
        boolean kept = Arrays.stream(ends).anyMatch(end -> page < end && page >= end - size);
        parts.unlock(table[first], kept);
      }
    }
    for (; first < to; first++) {
      parts.unlock(table[first], true);
    }
  }

  /** Returns the cache's hint about the request's session; null for none. */
  private CacheSlot slot(int request) {
    int session = workload.session(request);
    return sessions == null || session == CacheWorkload.NO_SESSION
        ? null
        : slots.computeIfAbsent(Integer.toString(session), name -> new CacheSlot(name, ""));
  }

  private void close(int session) {
    CacheSlot slot = slots.get(Integer.toString(session));
    if (slot != null) {
      List<SessionPosition> positions = slot.positions();
      freed += sessions.close(slot);
      below.forget(positions);
    }
  }

  /** Allocates pages for blocks {@code from .. to-1}; returns the end of the blocks with pages. */
  private int allocate(int from, int to) {
    int missing = to - from - allocator.free();
    if (missing > 0) {
      evicted += cache.evict(missing);
      below.awaitRoom();
    }
    int end = Math.min(to, from + allocator.free());
    for (int i = from; i < end; i++) {
      table[i] = allocator.allocate();
    }
    return end;
  }
}
