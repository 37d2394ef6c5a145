package io.radixflow.lab.bench.operation;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.SplittableRandom;

/** A cache whose root has only leaves of one page below it. Not thread-safe. */
final class Leaves {
  /** All token ids are below this number. */
  static final int IDS = 1 << 30;

  private final RadixCache cache;
  private final PageAllocator allocator;
  private final int[] table = new int[1];
  private final SplittableRandom random = new SplittableRandom(7);
  private final int pageTokens;

  Leaves(int leaves, int pageTokens, String policy) {
    this(ChatWorkload.allocator(leaves, pageTokens), pageTokens, policy);
  }

  /** Creates the cache; it uses all pages of an allocator. */
  Leaves(PageAllocator allocator, int pageTokens, String policy) {
    this.allocator = allocator;
    this.pageTokens = pageTokens;
    cache = ChatWorkload.cache(allocator, pageTokens, policy);
    for (int i = 0; i < allocator.total(); i++) {
      add();
    }
  }

  RadixCache cache() {
    return cache;
  }

  void add() {
    if (allocator.free() == 0) {
      return;
    }
    int[] tokens = random.ints(pageTokens, 0, IDS).toArray();
    RadixKey key = RadixKey.of(tokens);
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    allocator.allocExtend(table, match.pages() * pageTokens, tokens.length);
    ChatWorkload.store(cache, match, key, table);
  }
}
