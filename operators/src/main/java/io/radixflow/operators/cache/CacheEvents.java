package io.radixflow.operators.cache;

import java.util.Arrays;
import java.util.function.Consumer;

/** Makes the events of one cache, and for them the digests that its nodes carry. */
final class CacheEvents {
  private final PageShape shape;
  private final KvEventListener listener;
  private final boolean tokenIds;
  private final PageHasher hasher;
  private TreeNode shrinking;
  private long[] removed = new long[1];
  private int removedCount;

  /**
   * @param tokenIds whether the events tell what pages hold
   */
  CacheEvents(PageShape shape, KvEventListener listener, boolean tokenIds) {
    this.shape = shape;
    this.listener = listener;
    this.tokenIds = tokenIds;
    this.hasher = new PageHasher(shape.pageTokens(), shape.overlap() == 1);
  }

  /** The last {@code count} pages of a node have just been appended. */
  void stored(TreeNode node, int count) {
    int first = node.pageCount() - count;
    byte[] digests = node.ensureDigests();
    byte[] before = first > 0 ? digests : digestBefore(node);
    int beforeAt = first > 0 ? (first - 1) * PageHasher.BYTES : 0;
    for (int i = first; i < node.pageCount(); i++) {
      int at = i * PageHasher.BYTES;
      hasher.hash(
          before, beforeAt, node.tokens(), i * shape.pageTokens(), shape.pageTokens(), digests, at);
      before = digests;
      beforeAt = at;
    }
    tell(node, first, listener::accept);
  }

  /** What the first page of a node follows, or null. */
  private static byte[] digestBefore(TreeNode node) {
    if (node.parent.isRoot()) {
      return PageHasher.seed(node.namespace);
    }
    byte[] before = node.parent.lastDigest();
    return node.namespace.equals(node.parent.namespace)
        ? before
        : PageHasher.seedBelow(before, node.namespace);
  }

  /** Passes on the event of each page of a node from {@code first} on. */
  void tell(TreeNode node, int first, Consumer<KvEvent.Stored> listener) {
    String namespace = PageHasher.publishedName(node.namespace);
    Long parent = null;
    if (first > 0) {
      parent = node.block(first - 1);
    } else if (!node.parent.isRoot()) {
      parent = node.parent.block(node.parent.pageCount() - 1);
    }
    for (int i = first; i < node.pageCount(); i++) {
      int from = i * shape.pageTokens();
      int[] ids =
          tokenIds ? Arrays.copyOfRange(node.tokens(), from, from + shape.tokensOf(1)) : null;
      long block = node.block(i);
      listener.accept(
          new KvEvent.Stored(KvTier.DEVICE, namespace, block, parent, shape.pageTokens(), ids));
      parent = block;
    }
  }

  /** The last page of a node is about to leave; {@link #flush} must follow. */
  void removing(TreeNode node) {
    if (node != shrinking) {
      flush();
      shrinking = node;
    }
    if (removedCount == removed.length) {
      removed = Arrays.copyOf(removed, 2 * removedCount);
    }
    removed[removedCount++] = node.block(node.pageCount() - 1);
  }

  /** Tells of the pages that have left since the last call, one event a node. */
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
    listener.accept(new KvEvent.Cleared());
  }
}
