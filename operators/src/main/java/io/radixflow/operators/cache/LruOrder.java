package io.radixflow.operators.cache;

/**
 * The order of eviction among unlocked nodes, least recently used first; every operation is O(1).
 *
 * <p>A parent always follows its children, because a path is used from its end to its root. So the
 * first node has no children in the order, and as a locked child would lock its parent, it has no
 * children at all.
 */
final class LruOrder {
  private TreeNode oldest;
  private TreeNode newest;

  /** The node to evict from next, or null. */
  TreeNode oldest() {
    return oldest;
  }

  void addNewest(TreeNode node) {
    node.older = newest;
    node.newer = null;
    if (newest == null) {
      oldest = node;
    } else {
      newest.newer = node;
    }
    newest = node;
    node.ordered = true;
  }

  /** Adds a node directly after one that is in the order. */
  void addAfter(TreeNode node, TreeNode other) {
    if (other == newest) {
      addNewest(node);
      return;
    }
    node.older = other;
    node.newer = other.newer;
    other.newer.older = node;
    other.newer = node;
    node.ordered = true;
  }

  void remove(TreeNode node) {
    if (node.older == null) {
      oldest = node.newer;
    } else {
      node.older.newer = node.newer;
    }
    if (node.newer == null) {
      newest = node.older;
    } else {
      node.newer.older = node.older;
    }
    node.older = null;
    node.newer = null;
    node.ordered = false;
  }
}
