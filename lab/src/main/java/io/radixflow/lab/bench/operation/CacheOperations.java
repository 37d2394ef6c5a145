package io.radixflow.lab.bench.operation;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.lab.bench.operation.OperationTimes.Operation;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Operations on radix caches. Each operation has its own cache. */
record CacheOperations(int sessions, int pageTokens, String policy) {
  private static final int MISSING_KEYS = 1024;
  private static final int MISSING_TOKENS = 512;

  private ChatWorkload workload() {
    return new ChatWorkload(sessions, pageTokens, policy);
  }

  /**
   * Returns an operation that matches prompts that are cached completely, of one session after the
   * other.
   *
   * @param tokens length of a prompt
   * @param resumed whether a search starts where the session's previous turn ended
   */
  Operation match(int tokens, boolean resumed) {
    ChatWorkload workload = workload();
    PageAllocator allocator = workload.allocator();
    RadixCache cache = workload.cache(allocator);
    TreeNode[] ends = new TreeNode[sessions];
    workload.fill(cache, allocator, ends);
    RadixKey[] keys = new RadixKey[sessions];
    TreeNode[] from = new TreeNode[sessions];
    for (int place = 0; place < sessions; place++) {
      int session = workload.session(place);
      keys[place] = workload.key(session, tokens);
      from[place] = resumed ? ends[session] : null;
    }
    int known = resumed ? ChatWorkload.endTokens(ChatWorkload.TURNS - 2) / pageTokens : 0;
    int[] next = {0};
    return () -> {
      int place = next[0]++ % keys.length;
      return cache.match(keys[place], Integer.MAX_VALUE, from[place], known);
    };
  }

  /**
   * Returns an operation that looks for prompts without cached pages: the leaves have other token
   * ids.
   */
  Operation miss(int leaves) {
    RadixCache cache = new Leaves(leaves, pageTokens, policy).cache();
    SplittableRandom random = new SplittableRandom(leaves);
    RadixKey[] keys = new RadixKey[MISSING_KEYS];
    Arrays.setAll(
        keys,
        i -> RadixKey.of(random.ints(MISSING_TOKENS, Leaves.IDS, Integer.MAX_VALUE).toArray()));
    int[] next = {0};
    return () -> cache.match(keys[next[0]++ % MISSING_KEYS], Integer.MAX_VALUE);
  }

  /**
   * Returns an operation that evicts one page, which is a leaf. Another leaf is added outside of
   * the measured time.
   */
  Operation evict(int leaves) {
    Leaves cached = new Leaves(leaves, pageTokens, policy);
    return new Operation() {
      @Override
      public void prepare() {
        cached.add();
      }

      @Override
      public Object run() {
        return cached.cache().evict(1);
      }
    };
  }

  /**
   * Returns an operation that does all cache operations of a turn.
   *
   * @param resumed whether a search starts where the session's previous turn ended
   * @param events whether the turns publish events, so that each page's SHA-256 is computed
   */
  Operation turn(boolean resumed, boolean events) {
    return new CacheTurns(
        workload(), resumed, events ? event -> OperationTimes.sink = event : null);
  }
}
