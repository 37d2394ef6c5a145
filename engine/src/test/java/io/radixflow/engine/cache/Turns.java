package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;

/** A cache and the requests that use it, one whole turn after the other; counts are in tokens. */
public final class Turns {
  final PageAllocator allocator;
  final RadixCache cache;
  private final int pageTokens;

  public Turns(int pages, int pageTokens, EvictionPolicy policy) {
    this.allocator = new PageAllocator(pages, pageTokens, page -> {});
    this.cache = new RadixCache(allocator, pageTokens, policy, 1);
    this.pageTokens = pageTokens;
  }

  public Turns(int pageTokens, String policy) {
    this(1024, pageTokens, EvictionPolicies.of(policy, 1024, 1));
  }

  public Turns(int pageTokens) {
    this(pageTokens, "lru");
  }

  RadixKey key(String namespace, int... tokens) {
    return new RadixKey(namespace, tokens, tokens.length);
  }

  /** Caches a sequence; returns how much of it was cached before. */
  public int insert(int... tokens) {
    return insert(key("", tokens), 0);
  }

  public int insert(RadixKey key, int priority) {
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    cache.unlock(hold(key, match, priority), true);
    return match.pages() * pageTokens;
  }

  /** Caches a sequence for a request that goes on. */
  TreeNode hold(int... tokens) {
    RadixKey key = key("", tokens);
    return hold(key, cache.match(key, Integer.MAX_VALUE), 0);
  }

  private TreeNode hold(RadixKey key, PrefixMatch match, int priority) {
    int pages = key.pages(pageTokens);
    TreeNode locked = cache.lock(key, match);
    int[] table = new int[pages];
    cache.copyPages(locked, match.pages(), table);
    for (int i = match.pages(); i < pages; i++) {
      table[i] = allocator.allocate();
    }
    return cache.insert(locked, key, match.pages(), pages, table, true, priority).node();
  }

  /** Returns how much of a sequence is cached; changes nothing. */
  public int matched(int... tokens) {
    return matched(key("", tokens));
  }

  public int matched(RadixKey key) {
    return cache.match(key, Integer.MAX_VALUE).pages() * pageTokens;
  }

  /** Returns the numbers of the pages that a sequence finds. */
  int[] pages(RadixKey key) {
    PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
    int[] table = new int[match.pages()];
    TreeNode locked = cache.lock(key, match);
    cache.copyPages(locked, table.length, table);
    cache.unlock(locked, false);
    return table;
  }

  int[] pages(int... tokens) {
    return pages(key("", tokens));
  }

  /** Uses a sequence without storing anything. */
  void touch(int... tokens) {
    cache.unlock(lock(tokens), false);
  }

  TreeNode lock(int... tokens) {
    RadixKey key = key("", tokens);
    return cache.lock(key, cache.match(key, Integer.MAX_VALUE));
  }

  /** Frees whole pages for at least so many tokens; returns how many were freed. */
  public int evict(int tokens) {
    return cache.evict(allocator.pagesFor(tokens)) * pageTokens;
  }

  int evictable() {
    return cache.evictablePages() * pageTokens;
  }

  int locked() {
    return cache.protectedPages() * pageTokens;
  }

  int total() {
    return allocator.cached() * pageTokens;
  }

  int free() {
    return allocator.free() * pageTokens;
  }
}
