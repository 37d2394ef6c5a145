package io.radixflow.engine.cache;

/**
 * Chooses which page a {@link RadixCache} frees next. The cache reports each change of a node. The
 * policy keeps the nodes that may be evicted in its own order and chooses the first.
 *
 * <p>A node may be evicted if it is not locked and has no children; its pages are evicted one by
 * one, from its end. Children are only ever added below locked nodes. A policy belongs to one cache
 * and to its thread.
 */
public interface EvictionPolicy {

  /** Returns the name of the policy in the configuration. */
  String name();

  /** Called once by the policy's cache, before any other method. */
  default void attach(RadixCache cache) {}

  /**
   * Called when the last lock of a node was released. The node's counts and times already include
   * this use. The nodes of a path are added from its end to its root.
   */
  void add(TreeNode node);

  /** Called when a node in the order was locked or has left the tree. */
  void remove(TreeNode node);

  /** Called when a node in the order has lost its last child, so it may now be evicted. */
  default void childless(TreeNode node) {}

  /**
   * Called when a node in the order was split: {@code front} is new and is the parent of {@code
   * back}.
   */
  void split(TreeNode front, TreeNode back);

  /** Returns whether a node and its only child, both in the order, may be merged. */
  boolean mergeable(TreeNode front, TreeNode back);

  /**
   * Called when two such nodes are merged: {@code back} leaves the tree, and {@code front} has the
   * pages of both.
   */
  void merged(TreeNode front, TreeNode back);

  /** Returns the node whose last page is evicted next, or null if none may be evicted. */
  TreeNode victim();

  /** Called when the priority of a node in the order has changed. */
  default void reprioritised(TreeNode node) {}

  /** Returns whether the policy needs {@link TreeNode#pageHash}. */
  default boolean wantsPageHashes() {
    return false;
  }

  /**
   * Returns the number of uses that a page had before it entered the tree; 0 if the policy does not
   * remember the page.
   */
  default int usesBefore(long pageHash) {
    return 0;
  }

  /** Called when a page has entered the tree in a locked node. */
  default void stored(TreeNode node, long pageHash) {}

  /** Called before the last page of a node leaves the tree to make room. */
  default void evicted(TreeNode node, long pageHash) {}

  /** Called before the last page of a node leaves the tree because its session released it. */
  default void dropped(TreeNode node, long pageHash) {
    evicted(node, pageHash);
  }
}
