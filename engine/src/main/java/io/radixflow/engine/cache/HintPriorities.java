package io.radixflow.engine.cache;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Applies hints that raise the priority of nodes of a tree, and removes the priority when a hint
 * expires.
 */
final class HintPriorities {
  /** The order in which a policy receives unlocked nodes; the end of a path comes first. */
  private static final Comparator<TreeNode> BY_LAST_USE =
      Comparator.<TreeNode>comparingLong(node -> node.lastUsedAt)
          .thenComparing(node -> node.startPage, Comparator.reverseOrder());

  private final RadixTree tree;
  private final EvictionPolicy policy;
  private long earliestEnd = Long.MAX_VALUE;

  HintPriorities(RadixTree tree, EvictionPolicy policy) {
    this.tree = tree;
    this.policy = policy;
  }

  /** See {@link RadixCache#retain}. */
  void retain(TreeNode locked, int from, int to, int priority, long until) {
    TreeNode node = locked;
    while (!node.isRoot() && node.endPage() > from) {
      if (node.startPage < to) {
        if (node.endPage() > to) {
          node = tree.split(node, to - node.startPage);
        }
        if (node.startPage < from) {
          tree.split(node, from - node.startPage);
        }
        raise(node, priority, until);
      }
      node = node.parent;
    }
  }

  private void raise(TreeNode node, int priority, long until) {
    boolean longer = priority == node.retention && until > node.retainedUntil;
    if (priority > node.retention || longer) {
      node.retention = priority;
      node.retainedUntil = until;
      earliestEnd = Math.min(earliestEnd, until);
    }
  }

  /** Removes expired hints. Looks at the nodes only if a hint has expired. */
  void expire(long now) {
    if (now < earliestEnd) {
      return;
    }
    earliestEnd = Long.MAX_VALUE;
    List<TreeNode> ended = new ArrayList<>();
    tree.forEachNode(
        node -> {
          if (node.retention == TreeNode.NOT_RETAINED) {
            return;
          }
          if (node.retainedUntil > now) {
            earliestEnd = Math.min(earliestEnd, node.retainedUntil);
            return;
          }
          node.retention = TreeNode.NOT_RETAINED;
          if (node.lockCount == 0) {
            ended.add(node);
          }
        });
    ended.sort(BY_LAST_USE);
    ended.forEach(policy::reprioritised);
  }
}
