package io.radixflow.engine.cache;

import java.util.function.Consumer;

/**
 * A node's children by their namespace and the tokens of their first page: open addressing with
 * linear probing, at most two thirds full. Two children never begin with the same page.
 *
 * <p>The hashes are stored in an array of this table. So a search, or closing the gap after a
 * removal, reads no other nodes: among a million nodes each read would miss the processor's caches.
 */
final class ChildTable {
  /** Slots that a search for the latest child looks at. */
  private static final int MOST_LOOKED_AT = 64;

  private TreeNode[] slots;
  private int[] hashes;
  private int size;

  int size() {
    return size;
  }

  TreeNode only() {
    for (TreeNode node : slots) {
      if (node != null) {
        return node;
      }
    }
    throw new IllegalStateException("no child");
  }

  /**
   * Returns the child that begins with the page of {@code tokens} at {@code from}, or null. The
   * table must not be empty.
   *
   * @param hash the page's {@link ChildHash}
   * @param span number of token ids in the page
   */
  TreeNode find(int hash, String namespace, int[] tokens, int from, int span) {
    for (int i = hash & slots.length - 1; slots[i] != null; i = i + 1 & slots.length - 1) {
      if (hashes[i] == hash && slots[i].beginsWith(namespace, tokens, from, span)) {
        return slots[i];
      }
    }
    return null;
  }

  /**
   * Returns a namespace's most recently used child among the children that begin with given tokens.
   * If there are more than 42 children, only some of them are compared. Returns null if no child
   * fits.
   *
   * @param span number of tokens from {@code from} on, at most a page; 0 for any child
   */
  TreeNode latest(String namespace, int[] tokens, int from, int span) {
    TreeNode latest = null;
    int end = slots == null ? 0 : Math.min(slots.length, MOST_LOOKED_AT);
    for (int i = 0; i < end; i++) {
      TreeNode node = slots[i];
      if (node != null
          && (latest == null || node.lastUsedAt > latest.lastUsedAt)
          && node.beginsWith(namespace, tokens, from, span)) {
        latest = node;
      }
    }
    return latest;
  }

  void add(TreeNode node) {
    if (slots == null) {
      slots = new TreeNode[2];
      hashes = new int[2];
    } else if (3 * (size + 1) > 2 * slots.length) {
      grow();
    }
    put(node, node.firstPageHash);
    size++;
  }

  private void grow() {
    TreeNode[] oldSlots = slots;
    int[] oldHashes = hashes;
    slots = new TreeNode[2 * oldSlots.length];
    hashes = new int[slots.length];
    for (int i = 0; i < oldSlots.length; i++) {
      if (oldSlots[i] != null) {
        put(oldSlots[i], oldHashes[i]);
      }
    }
  }

  private void put(TreeNode node, int hash) {
    int i = hash & slots.length - 1;
    while (slots[i] != null) {
      i = i + 1 & slots.length - 1;
    }
    slots[i] = node;
    hashes[i] = hash;
  }

  /** Puts {@code next}, which begins with the same page, in the place of {@code node}. */
  void replace(TreeNode node, TreeNode next) {
    slots[indexOf(node)] = next;
  }

  /** Removes a child and closes the gap, so that no probe ends early. */
  void remove(TreeNode node) {
    int mask = slots.length - 1;
    int gap = indexOf(node);
    for (int i = gap + 1 & mask; slots[i] != null; i = i + 1 & mask) {
      int home = hashes[i] & mask;
      if ((i - home & mask) >= (i - gap & mask)) {
        slots[gap] = slots[i];
        hashes[gap] = hashes[i];
        gap = i;
      }
    }
    slots[gap] = null;
    size--;
  }

  private int indexOf(TreeNode node) {
    int i = node.firstPageHash & slots.length - 1;
    while (slots[i] != node) {
      if (slots[i] == null) {
        throw new IllegalStateException("not a child");
      }
      i = i + 1 & slots.length - 1;
    }
    return i;
  }

  /** Calls {@code visitor} for each child, in no particular order. */
  void forEach(Consumer<TreeNode> visitor) {
    if (size > 0) {
      for (TreeNode node : slots) {
        if (node != null) {
          visitor.accept(node);
        }
      }
    }
  }
}
