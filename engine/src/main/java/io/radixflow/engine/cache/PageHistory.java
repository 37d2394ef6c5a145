package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.PageHash;
import io.radixflow.engine.cache.key.RadixKey;

/**
 * Looks up, by their hashes, what an eviction policy remembers about pages. Does nothing if the
 * policy does not use hashes.
 */
final class PageHistory {
  private final EvictionPolicy policy;
  private final int pageTokens;
  private final boolean wanted;
  private long[] hashes = new long[0];

  PageHistory(EvictionPolicy policy, int pageTokens) {
    this.policy = policy;
    this.pageTokens = pageTokens;
    this.wanted = policy.wantsPageHashes();
  }

  /**
   * Computes the hashes of pages {@code from .. to-1} of a key. These pages follow the end of
   * {@code node}.
   */
  void lookAt(TreeNode node, RadixKey key, int from, int to) {
    if (!wanted) {
      return;
    }
    if (hashes.length < to) {
      hashes = new long[Math.max(to, 2 * hashes.length)];
    }
    int stride = pageTokens;
    long hash =
        node.isRoot()
            ? PageHash.seed(key.namespaceAt(from, stride))
            : node.pageHash(node.pageCount() - 1);
    for (int i = from; i < to; i++) {
      if (i > 0 && i == key.publicPages(stride)) {
        hash ^= PageHash.seed(key.namespace());
      }
      hash = PageHash.next(hash, key.tokens(), i * stride, pageTokens);
      hashes[i] = hash;
    }
  }

  /** Returns the hashes from {@link #lookAt}, by page; null if the policy does not use hashes. */
  long[] hashes() {
    return wanted ? hashes : null;
  }

  /**
   * Returns the end of the run of pages that starts at {@code from} and whose pages were used
   * equally often; at most {@code to}.
   */
  int endOfRun(int from, int to) {
    int uses = usesBefore(from);
    int end = from + 1;
    while (end < to && usesBefore(end) == uses) {
      end++;
    }
    return end;
  }

  /** Returns the known number of earlier uses of a page that {@link #lookAt} has covered. */
  int usesBefore(int page) {
    return wanted ? policy.usesBefore(hashes[page]) : 0;
  }

  /** Called when the last {@code count} pages of a node have entered the tree. */
  void stored(TreeNode node, int count) {
    for (int i = node.pageCount() - count; wanted && i < node.pageCount(); i++) {
      policy.stored(node, node.pageHash(i));
    }
  }

  /** Called before the last page of a node leaves the tree to make room. */
  void evicted(TreeNode node) {
    policy.evicted(node, lastHash(node));
  }

  /**
   * Called before the last page of a node leaves the tree because its session no longer needs it.
   */
  void dropped(TreeNode node) {
    policy.dropped(node, lastHash(node));
  }

  private long lastHash(TreeNode node) {
    return wanted ? node.pageHash(node.pageCount() - 1) : 0;
  }
}
