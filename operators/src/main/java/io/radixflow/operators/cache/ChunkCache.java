package io.radixflow.operators.cache;

import java.util.function.IntConsumer;

/**
 * Shares nothing between requests, as SGLang's cache of this name: the chunks that a request has
 * computed are found again by itself alone, when it was put back for want of pages, and are freed
 * when it ends. A radix cache in which every request is a namespace.
 */
public final class ChunkCache implements PrefixCache {
  private final RadixCache chunks;

  /**
   * @param allocator of the pool whose pages the cache owns
   * @param pageTokens tokens a page
   */
  public ChunkCache(PageAllocator allocator, int pageTokens) {
    this.chunks = new RadixCache(allocator, pageTokens);
  }

  @Override
  public RadixKey keyOf(
      long request, String namespace, int publicTokens, int[] tokens, int length) {
    return new RadixKey("request " + request, tokens, length);
  }

  @Override
  public int evictablePages() {
    return chunks.evictablePages();
  }

  @Override
  public int protectedPages() {
    return chunks.protectedPages();
  }

  @Override
  public long version() {
    return chunks.version();
  }

  @Override
  public PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known) {
    return chunks.match(key, maxPages);
  }

  @Override
  public void copyPages(TreeNode node, int pages, int[] table) {
    chunks.copyPages(node, pages, table);
  }

  @Override
  public int evictablePages(PrefixMatch match) {
    return chunks.evictablePages(match);
  }

  @Override
  public int pagesLockedOnce(TreeNode locked) {
    return chunks.pagesLockedOnce(locked);
  }

  @Override
  public TreeNode lock(RadixKey key, PrefixMatch match) {
    return chunks.lock(key, match);
  }

  @Override
  public void relock(TreeNode node) {
    chunks.relock(node);
  }

  @Override
  public void retain(TreeNode locked, int from, int to, int priority, long until) {
    chunks.retain(locked, from, to, priority, until);
  }

  @Override
  public void expire(long now) {
    chunks.expire(now);
  }

  @Override
  public void unlock(TreeNode node, boolean hit) {
    chunks.unlock(node, hit);
    if (hit) {
      chunks.freeEnd(node, node.endPage(), 0);
    }
  }

  @Override
  public PrefixMatch insert(
      TreeNode locked,
      RadixKey key,
      int from,
      int to,
      int[] table,
      boolean redirect,
      int priority) {
    return chunks.insert(locked, key, from, to, table, redirect, priority);
  }

  @Override
  public int evict(int pages) {
    return chunks.evict(pages);
  }

  @Override
  public int freeEnd(TreeNode node, int end, int keep) {
    return chunks.freeEnd(node, end, keep);
  }

  @Override
  public void reset() {
    chunks.reset();
  }

  @Override
  public void forEachPage(IntConsumer visitor) {
    chunks.forEachPage(visitor);
  }

  @Override
  public boolean recount() {
    return chunks.recount();
  }
}
