package io.radixflow.engine.cache;

/**
 * A list of unlocked nodes in the order of their last use, linked through the nodes; every
 * operation is O(1).
 *
 * <p>A path is used from its end to its root, so a parent follows its children in the list. If all
 * unlocked nodes are in one list, the oldest node has no children: an unlocked child would be
 * before it in the list, and a locked child would lock its parent.
 */
public final class NodeList {
  private TreeNode oldest;
  private TreeNode newest;

  /** Returns the least recently used node, or null. */
  public TreeNode oldest() {
    return oldest;
  }

  public void addNewest(TreeNode node) {
    node.older = newest;
    node.newer = null;
    if (newest == null) {
      oldest = node;
    } else {
      newest.newer = node;
    }
    newest = node;
    node.list = this;
  }

  public void addOldest(TreeNode node) {
    node.older = null;
    node.newer = oldest;
    if (oldest == null) {
      newest = node;
    } else {
      oldest.older = node;
    }
    oldest = node;
    node.list = this;
  }

  /**
   * Appends all nodes of another list to this one. The nodes' {@link TreeNode#list} does not
   * change, so the call costs O(1).
   */
  public void takeIn(NodeList other) {
    if (other.oldest == null) {
      return;
    }
    if (newest == null) {
      oldest = other.oldest;
    } else {
      newest.newer = other.oldest;
      other.oldest.older = newest;
    }
    newest = other.newest;
    other.oldest = null;
    other.newest = null;
  }

  /** Adds {@code node} directly after {@code other}, which is in the list. */
  public void addAfter(TreeNode node, TreeNode other) {
    if (other == newest) {
      addNewest(node);
      return;
    }
    node.older = other;
    node.newer = other.newer;
    other.newer.older = node;
    other.newer = node;
    node.list = this;
  }

  public void remove(TreeNode node) {
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
    node.list = null;
  }
}
