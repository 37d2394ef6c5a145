package io.radixflow.operators.cache;

import java.util.HashMap;
import java.util.Map;

/**
 * What a workload's requests would find in a cache of a given size and policy. They are served one
 * after the other by a {@link RadixCache} of its own, in which a page holds one block: the longest
 * cached prefix is a hit, then all blocks are stored, for which pages that the request does not use
 * are evicted. What finds no room is not stored. The policy learns of nothing before it happens.
 *
 * <p>With hints, a session that is closed frees the end of its last path, as far as no other
 * session shares it: not what its first request found in the cache, nor what others have extended.
 */
public final class CacheSimulation {

  /**
   * What came of it.
   *
   * @param hits blocks of prompts that were found
   * @param evicted blocks that were evicted
   * @param freed blocks that were freed since their session was closed
   */
  public record Result(long hits, long evicted, long freed) {}

  /** Where a session's last request ended. */
  private static final class Session {
    final int foundFirst;
    TreeNode node;
    int pages;

    Session(int foundFirst) {
      this.foundFirst = foundFirst;
    }
  }

  private final CacheWorkload workload;
  private final PageAllocator allocator;
  private final RadixCache cache;
  private final int[] blocks;
  private final int[] table;
  private final Map<Integer, Session> sessions = new HashMap<>();
  private long hits;
  private long evicted;
  private long freed;

  private CacheSimulation(CacheWorkload workload, int capacity, EvictionPolicy policy) {
    this.workload = workload;
    this.allocator = new PageAllocator(capacity, page -> {});
    this.cache = new RadixCache(allocator, 1, false, policy);
    this.blocks = new int[workload.longest()];
    this.table = new int[blocks.length];
  }

  /**
   * Serves the whole workload.
   *
   * @param capacity pages of the cache, a block each
   * @param policy a new one, made for that many pages
   * @param hints whether the cache is told what is known about sessions when it is known
   */
  public static Result run(
      CacheWorkload workload, int capacity, EvictionPolicy policy, boolean hints) {
    CacheSimulation simulation = new CacheSimulation(workload, capacity, policy);
    int closing = 0;
    for (int request = 0; request < workload.requests(); request++) {
      while (hints && closing < workload.closings() && workload.closedBefore(closing) <= request) {
        simulation.close(workload.closedSession(closing++));
      }
      simulation.serve(request);
    }
    return new Result(simulation.hits, simulation.evicted, simulation.freed);
  }

  private void serve(int request) {
    workload.copyBlocks(request, blocks);
    int size = workload.size(request);
    RadixKey key = new RadixKey("", blocks, size);
    PrefixMatch match = cache.match(key, size);
    hits += Math.min(match.pages(), workload.inputs(request));
    TreeNode node = cache.lock(key, match);
    int end = allocate(match.pages(), size);
    node = cache.insert(node, key, match.pages(), end, table, true).node();
    cache.unlock(node);
    int number = workload.session(request);
    if (number != CacheWorkload.NO_SESSION) {
      Session session = sessions.computeIfAbsent(number, n -> new Session(match.pages()));
      session.node = node;
      session.pages = end;
    }
  }

  private void close(int number) {
    Session session = sessions.remove(number);
    if (session != null) {
      freed += cache.freeEnd(session.node, session.pages, session.foundFirst);
    }
  }

  /** Takes pages for blocks {@code from .. to-1}; returns the end of those that got one. */
  private int allocate(int from, int to) {
    int missing = to - from - allocator.free();
    if (missing > 0) {
      evicted += cache.evict(missing);
    }
    int end = Math.min(to, from + allocator.free());
    for (int i = from; i < end; i++) {
      table[i] = allocator.allocate();
    }
    return end;
  }
}
