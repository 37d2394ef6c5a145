package io.radixflow.engine.cache.session;

import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts, for each node, the session positions at or below it. The counts show which pages only one
 * session uses. A claim locks nothing. When a node leaves the tree, its claims pass to its parent,
 * which has already counted them.
 */
public final class SessionClaims {
  private final RadixCache cache;

  SessionClaims(RadixCache cache) {
    this.cache = cache;
  }

  /** Claims the path that ends at a locked position. */
  void claim(SessionPosition position) {
    for (TreeNode each = position.node; !each.isRoot(); each = each.parent()) {
      each.addClaims(1);
    }
  }

  /**
   * Releases a claim, and frees the pages at the end of its path that no claim, lock or child
   * needs.
   *
   * @return the number of freed pages
   */
  int release(SessionPosition position) {
    TreeNode node = position.resolved();
    for (TreeNode each = node; each != null && !each.isRoot(); each = each.parent()) {
      each.addClaims(-1);
    }
    TreeNode claimed = node;
    while (claimed != null && !claimed.isRoot() && claimed.claims() == 0) {
      claimed = claimed.parent();
    }
    return node == claimed ? 0 : cache.freeEnd(node, node.endPage(), claimed.endPage());
  }

  /** Returns whether {@code descendant}, which is in the tree, is at or below a position. */
  static boolean extendsPosition(TreeNode descendant, SessionPosition position) {
    TreeNode end = position.resolved();
    TreeNode node = descendant;
    while (end != null && node != end && node != null && node.startPage() > end.startPage()) {
      node = node.parent();
    }
    return end == null || node == end;
  }

  /** Returns the number of pages that no other session uses. */
  int ownPages(CacheSlot slot) {
    List<SessionPosition> positions = slot.positions();
    Map<TreeNode, Integer> own = positions.size() > 1 ? countOwn(positions) : null;
    int pages = 0;
    if (own == null) {
      for (SessionPosition position : positions) {
        TreeNode node = position.resolved();
        for (; node != null && !node.isRoot() && node.claims() == 1; node = node.parent()) {
          pages += node.pageCount();
        }
      }
      return pages;
    }
    for (Map.Entry<TreeNode, Integer> each : own.entrySet()) {
      pages += each.getKey().claims() == each.getValue() ? each.getKey().pageCount() : 0;
    }
    return pages;
  }

  private static Map<TreeNode, Integer> countOwn(List<SessionPosition> positions) {
    Map<TreeNode, Integer> own = new HashMap<>();
    for (SessionPosition position : positions) {
      TreeNode node = position.resolved();
      for (; node != null && !node.isRoot(); node = node.parent()) {
        own.merge(node, 1, Integer::sum);
      }
    }
    return own;
  }

  /** Frees the last page of one of a slot's positions, if only that session uses it. */
  boolean freeOne(CacheSlot slot) {
    for (SessionPosition position : slot.positions()) {
      TreeNode node = position.resolved();
      if (node != null && isFree(node, claimsAt(slot, node))) {
        return cache.freeEnd(node, node.endPage(), node.endPage() - 1) > 0;
      }
    }
    return false;
  }

  private static int claimsAt(CacheSlot slot, TreeNode node) {
    int count = 0;
    for (SessionPosition position : slot.positions()) {
      count += position.resolved() == node ? 1 : 0;
    }
    return count;
  }

  private static boolean isFree(TreeNode node, int ownClaims) {
    return node.claims() == ownClaims && !node.isLocked() && node.isLeaf();
  }
}
