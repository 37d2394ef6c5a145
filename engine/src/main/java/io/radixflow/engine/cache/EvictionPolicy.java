package io.radixflow.engine.cache;

/**
 * Chooses which page a {@link RadixCache} frees next. The cache reports each change of a node; the
 * policy keeps the nodes that may be evicted in an order of its own and names the first.
 *
 * <p>A node may be evicted if it is not locked and has no children; its pages go one by one from
 * its end. Children are only ever added below locked nodes. A policy belongs to one cache and to
 * its thread.
 */
public interface EvictionPolicy {

  /** Returns the name of the policy in the configuration. */
  String name();

  /** Called once, before anything else, by the cache that the policy is to serve. */
  default void attach(RadixCache cache) {}

  /**
   * Called when the last lock of a node was released. Its counts and times already include this
   * use. Nodes of a path come from its end to the root.
   */
  void add(TreeNode node);

  /** A node in the order was locked, or has left the tree. */
  void remove(TreeNode node);

  /** A node in the order has lost its last child, so that it may be evicted itself now. */
  default void childless(TreeNode node) {}

  /** A node in the order was split: {@code front} is new and is the parent of {@code back}. */
  void split(TreeNode front, TreeNode back);

  /** Returns whether a node and its only child, both in the order, may become one. */
  boolean mergeable(TreeNode front, TreeNode back);

  /** They do: {@code back} leaves the tree, {@code front} has the pages of both from now on. */
  void merged(TreeNode front, TreeNode back);

  /** Returns the node whose last page goes next, or null if none may be evicted. */
  TreeNode victim();

  /** The priority of a node in the order has changed. */
  default void reprioritised(TreeNode node) {}

  /** Returns whether the nodes are to carry {@link TreeNode#pageHash}. */
  default boolean wantsPageHashes() {
    return false;
  }

  /** The uses that a page had before it entered the tree, as far as the policy remembers them. */
  default int usesBefore(long pageHash) {
    return 0;
  }

  /** A page has entered the tree with a node, which is locked. */
  default void stored(TreeNode node, long pageHash) {}

  /** The last page of a node is about to leave the tree, to make room. */
  default void evicted(TreeNode node, long pageHash) {}

  /** The last page of a node is about to leave the tree because its session released it. */
  default void dropped(TreeNode node, long pageHash) {
    evicted(node, pageHash);
  }
}
