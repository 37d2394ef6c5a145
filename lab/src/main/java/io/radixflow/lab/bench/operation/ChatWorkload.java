package io.radixflow.lab.bench.operation;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.SplittableRandom;

/**
 * Chat sessions that share a system prompt of 512 tokens; each of their 10 turns adds 128 tokens of
 * the user and 256 of the reply. All ids are random, so sessions share nothing else. Not
 * thread-safe.
 */
final class ChatWorkload {
  static final int TURNS = 10;
  static final int SYSTEM = 512;
  private static final int USER = 128;
  private static final int REPLY = 256;
  private static final int VOCABULARY = 32_000;
  private static final long SEED = 20260401;

  private final int sessions;
  private final int pageTokens;
  private final String policy;
  private final int[][] tokens;
  private final int[] order;

  /**
   * @param pageTokens a power of two up to 128, so that turns end at page ends
   * @param policy the eviction policy
   */
  ChatWorkload(int sessions, int pageTokens, String policy) {
    this.sessions = sessions;
    this.pageTokens = pageTokens;
    this.policy = policy;
    SplittableRandom random = new SplittableRandom(SEED);
    int[] system = random.ints(SYSTEM, 0, VOCABULARY).toArray();
    tokens = new int[sessions][];
    order = new int[sessions];
    for (int i = 0; i < sessions; i++) {
      tokens[i] = random.ints(endTokens(TURNS - 1), 0, VOCABULARY).toArray();
      System.arraycopy(system, 0, tokens[i], 0, SYSTEM);
      int other = random.nextInt(i + 1);
      order[i] = order[other];
      order[other] = i;
    }
  }

  /** Returns the number of tokens in the prompt of a turn; turns count from 0. */
  static int promptTokens(int turn) {
    return SYSTEM + turn * (USER + REPLY) + USER;
  }

  /** Returns the number of tokens in that prompt and its reply. */
  static int endTokens(int turn) {
    return promptTokens(turn) + REPLY;
  }

  int sessions() {
    return sessions;
  }

  int pageTokens() {
    return pageTokens;
  }

  int[] tokens(int session) {
    return tokens[session];
  }

  /**
   * Returns the session at a position of a random-like order that does not depend on memory
   * addresses.
   */
  int session(int place) {
    return order[place];
  }

  RadixKey key(int session, int length) {
    return new RadixKey("", tokens[session], length);
  }

  int maxPages() {
    return endTokens(TURNS - 1) / pageTokens;
  }

  /** Returns a pool with room for the tokens of all sessions. */
  PageAllocator allocator() {
    return allocator(sessions * maxPages(), pageTokens);
  }

  static PageAllocator allocator(int pages, int pageTokens) {
    return new PageAllocator(pages, pageTokens, page -> {});
  }

  RadixCache cache(PageAllocator allocator) {
    return cache(allocator, pageTokens, policy);
  }

  static RadixCache cache(PageAllocator allocator, int pageTokens, String policy) {
    double share = CacheOptions.DEFAULT.slruProtectedShare();
    return new RadixCache(
        allocator, pageTokens, EvictionPolicies.of(policy, allocator.total(), share), SEED);
  }

  /**
   * Runs all turns of all sessions.
   *
   * @param ends receives the last node of each session's last but one turn, or null
   */
  void fill(RadixCache cache, PageAllocator allocator, TreeNode[] ends) {
    int[] table = new int[maxPages()];
    for (int turn = 0; turn < TURNS; turn++) {
      for (int place = 0; place < sessions; place++) {
        int session = order[place];
        PrefixMatch match = cache.match(key(session, promptTokens(turn)), Integer.MAX_VALUE);
        allocator.allocExtend(table, match.pages() * pageTokens, endTokens(turn));
        TreeNode end = store(cache, match, key(session, endTokens(turn)), table);
        if (ends != null && turn == TURNS - 2) {
          ends[session] = end;
        }
      }
    }
  }

  /** Does the cache operations of a turn after its match; returns the turn's last node. */
  static TreeNode store(RadixCache cache, PrefixMatch match, RadixKey key, int[] table) {
    TreeNode locked = cache.lock(key, match);
    cache.copyPages(locked, match.pages(), table);
    PrefixMatch end =
        cache.insert(locked, key, match.pages(), key.pages(cache.pageTokens()), table, true, 0);
    cache.unlock(end.node(), true);
    return end.node();
  }
}
