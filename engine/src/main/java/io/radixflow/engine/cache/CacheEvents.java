package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Reports the pages that enter and leave one cache, and computes the digests that the reports need.
 */
final class CacheEvents {
  private final int pageTokens;
  private final PageHasher hasher;
  private final CachedPage shown = new CachedPage();

  /** The listener, or null. */
  private KvEventListener listener;

  private boolean tokenIds;

  /** The follower, or null. */
  private PageListener follower;

  private TreeNode shrinking;
  private long[] removed = new long[1];
  private int removedCount;

  CacheEvents(int pageTokens) {
    this.pageTokens = pageTokens;
    this.hasher = new PageHasher(pageTokens);
  }

  /**
   * @param tokenIds whether the events carry the token ids of pages
   */
  void listen(KvEventListener listener, boolean tokenIds) {
    this.listener = listener;
    this.tokenIds = tokenIds;
  }

  void follow(PageListener follower) {
    this.follower = follower;
  }

  boolean hasListener() {
    return listener != null;
  }

  /** Called when the last {@code count} pages of a node have just been appended. */
  void stored(TreeNode node, int count) {
    int first = node.pageCount() - count;
    byte[] digests = node.ensureDigests();
    byte[] before = first > 0 ? digests : digestBefore(node);
    int beforeAt = first > 0 ? (first - 1) * PageHasher.BYTES : 0;
    for (int i = first; i < node.pageCount(); i++) {
      int at = i * PageHasher.BYTES;
      hasher.hash(before, beforeAt, node.tokens(), i * pageTokens, pageTokens, digests, at);
      before = digests;
      beforeAt = at;
    }
    if (listener != null) {
      report(node, first, listener::accept);
    }
    if (follower != null) {
      show(node, first);
    }
  }

  /** Shows the follower the pages of a node from {@code first} on. */
  private void show(TreeNode node, int first) {
    byte[] digests = node.ensureDigests();
    byte[] above = first > 0 ? null : digestAbove(node);
    for (int i = first; i < node.pageCount(); i++) {
      view(node, i, above, digests);
      follower.stored(shown);
    }
  }

  private void view(TreeNode node, int i, byte[] above, byte[] digests) {
    if (i > 0) {
      shown.show(node, i, digests, (i - 1) * PageHasher.BYTES, digests);
    } else {
      shown.show(node, i, above, 0, digests);
    }
  }

  /**
   * Returns the digest of the page before a node, in any namespace; null if there is no page before
   * it.
   */
  private static byte[] digestAbove(TreeNode node) {
    return node.parent.isRoot() ? null : node.parent.lastDigest();
  }

  /**
   * Shows the follower the pages up to the end of a node that were used at least {@code uses}
   * times.
   */
  void replay(TreeNode end, int uses) {
    if (follower == null) {
      return;
    }
    ArrayDeque<TreeNode> path = new ArrayDeque<>();
    for (TreeNode each = end; !each.isRoot(); each = each.parent) {
      if (each.uses >= uses) {
        path.push(each);
      }
    }
    path.forEach(node -> show(node, 0));
  }

  /** Returns the digest that the first page of a node is chained to, or null. */
  private static byte[] digestBefore(TreeNode node) {
    if (node.parent.isRoot()) {
      return PageHasher.seed(node.namespace);
    }
    byte[] before = node.parent.lastDigest();
    return node.namespace.equals(node.parent.namespace)
        ? before
        : PageHasher.seedBelow(before, node.namespace);
  }

  /** Passes {@code listener} an event for each page of a node from {@code first} on. */
  void report(TreeNode node, int first, Consumer<KvEvent.Stored> listener) {
    String namespace = PageHasher.publishedName(node.namespace);
    Long parent = null;
    if (first > 0) {
      parent = node.block(first - 1);
    } else if (!node.parent.isRoot()) {
      parent = node.parent.block(node.parent.pageCount() - 1);
    }
    for (int i = first; i < node.pageCount(); i++) {
      int from = i * pageTokens;
      int[] ids = tokenIds ? Arrays.copyOfRange(node.tokens(), from, from + pageTokens) : null;
      long block = node.block(i);
      listener.accept(new KvEvent.Stored(KvTier.DEVICE, namespace, block, parent, pageTokens, ids));
      parent = block;
    }
  }

  /**
   * Reports that the last page of a node is about to leave; {@link #flush} must follow.
   *
   * @param evicted see {@link PageListener#leaving}
   * @param quiet whether {@link #cleared} follows and reports all pages at once
   * @return whether the follower still needs the page
   */
  boolean removing(TreeNode node, boolean evicted, boolean quiet) {
    if (listener != null && !quiet) {
      note(node);
    }
    if (follower == null) {
      return false;
    }
    int last = node.pageCount() - 1;
    view(node, last, last > 0 ? null : digestAbove(node), node.ensureDigests());
    return follower.leaving(shown, evicted);
  }

  private void note(TreeNode node) {
    if (node != shrinking) {
      flush();
      shrinking = node;
    }
    if (removedCount == removed.length) {
      removed = Arrays.copyOf(removed, 2 * removedCount);
    }
    removed[removedCount++] = node.block(node.pageCount() - 1);
  }

  /** Reports the pages that have left since the last call, with one event per node. */
  void flush() {
    if (removedCount > 0) {
      long[] blocks = new long[removedCount];
      for (int i = 0; i < removedCount; i++) {
        blocks[i] = removed[removedCount - 1 - i];
      }
      removedCount = 0;
      listener.accept(new KvEvent.Removed(KvTier.DEVICE, blocks));
    }
    shrinking = null;
  }

  void cleared() {
    if (listener != null) {
      listener.accept(new KvEvent.Cleared());
    }
  }
}
