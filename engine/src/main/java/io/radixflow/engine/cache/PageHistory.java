package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.PageHash;
import io.radixflow.engine.cache.key.RadixKey;

/** Looks up what an eviction policy remembers of pages by their hashes, if it asks for hashes. */
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

  /** Looks at pages {@code from .. to-1} of a key, which begin at the end of {@code node}. */
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

  /** The hashes of the pages that were looked at, by page; null if the policy asks for none. */
  long[] hashes() {
    return wanted ? hashes : null;
  }

  /** The end of the pages from {@code from} on that were used equally often, at most {@code to}. */
  int endOfRun(int from, int to) {
    int uses = usesBefore(from);
    int end = from + 1;
    while (end < to && usesBefore(end) == uses) {
      end++;
    }
    return end;
  }

  /** Returns the number of uses that a page which was looked at is known to have had. */
  int usesBefore(int page) {
    return wanted ? policy.usesBefore(hashes[page]) : 0;
  }

  /** Pages have entered the tree as the last ones of a node. */
  void stored(TreeNode node, int count) {
    for (int i = node.pageCount() - count; wanted && i < node.pageCount(); i++) {
      policy.stored(node, node.pageHash(i));
    }
  }

  /** The last page of a node is about to leave, to make room. */
  void evicted(TreeNode node) {
    policy.evicted(node, lastHash(node));
  }

  /** The last page of a node is about to leave, since its session wants it no more. */
  void dropped(TreeNode node) {
    policy.dropped(node, lastHash(node));
  }

  private long lastHash(TreeNode node) {
    return wanted ? node.pageHash(node.pageCount() - 1) : 0;
  }
}
