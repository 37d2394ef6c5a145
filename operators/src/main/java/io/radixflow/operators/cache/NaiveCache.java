package io.radixflow.operators.cache;

import java.util.function.IntConsumer;

/**
 * Caches nothing: each request computes all of its pages and keeps them to itself. What the others
 * are compared with, as the naive cache of mini-SGLang.
 */
public final class NaiveCache implements PrefixCache {
  private final TreeNode root = new TreeNode("");

  @Override
  public int evictablePages() {
    return 0;
  }

  @Override
  public int protectedPages() {
    return 0;
  }

  @Override
  public long version() {
    return 0;
  }

  @Override
  public PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known) {
    return new PrefixMatch(root, 0, 0);
  }

  @Override
  public void copyPages(TreeNode node, int pages, int[] table) {}

  @Override
  public int evictablePages(PrefixMatch match) {
    return 0;
  }

  @Override
  public int pagesLockedOnce(TreeNode locked) {
    return 0;
  }

  @Override
  public TreeNode lock(RadixKey key, PrefixMatch match) {
    return root;
  }

  @Override
  public void relock(TreeNode node) {}

  @Override
  public void retain(TreeNode locked, int from, int to, int priority, long until) {}

  @Override
  public void expire(long now) {}

  @Override
  public void unlock(TreeNode node, boolean hit) {}

  @Override
  public PrefixMatch insert(
      TreeNode locked,
      RadixKey key,
      int from,
      int to,
      int[] table,
      boolean redirect,
      int priority) {
    return new PrefixMatch(root, 0, from);
  }

  @Override
  public int evict(int pages) {
    return 0;
  }

  @Override
  public int freeEnd(TreeNode node, int end, int keep) {
    return 0;
  }

  @Override
  public void reset() {}

  @Override
  public void forEachPage(IntConsumer visitor) {}

  @Override
  public boolean recount() {
    return true;
  }
}
