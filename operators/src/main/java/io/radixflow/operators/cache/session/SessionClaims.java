package io.radixflow.operators.cache.session;

import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts, at each node, the places of sessions at it or below it, so that it is known which pages
 * nobody else uses. A claim locks nothing. When a node leaves the tree, its claims are those of the
 * node above, which counted them already.
 */
public final class SessionClaims {
  private final RadixCache cache;

  SessionClaims(RadixCache cache) {
    this.cache = cache;
  }

  /** Claims the path that ends at a place, which someone has locked. */
  void claim(SessionPosition place) {
    for (TreeNode each = place.node; !each.isRoot(); each = each.parent()) {
      each.addClaims(1);
    }
  }

  /**
   * Gives a claim up, and frees the pages at the end of its path that nobody claims, has locked, or
   * continues.
   *
   * @return how many were freed
   */
  int release(SessionPosition place) {
    TreeNode node = place.resolved();
    for (TreeNode each = node; each != null && !each.isRoot(); each = each.parent()) {
      each.addClaims(-1);
    }
    TreeNode claimed = node;
    while (claimed != null && !claimed.isRoot() && claimed.claims() == 0) {
      claimed = claimed.parent();
    }
    return node == claimed ? 0 : cache.freeEnd(node, node.endPage(), claimed.endPage());
  }

  /** Whether {@code descendant}, which is in the tree, lies at or below a place. */
  static boolean extendsPlace(TreeNode descendant, SessionPosition place) {
    TreeNode end = place.resolved();
    TreeNode node = descendant;
    while (end != null && node != end && node != null && node.startPage() > end.startPage()) {
      node = node.parent();
    }
    return end == null || node == end;
  }

  /** Pages that no other session uses. */
  int ownPages(CacheSlot slot) {
    List<SessionPosition> places = slot.places();
    Map<TreeNode, Integer> own = places.size() > 1 ? countOwn(places) : null;
    int pages = 0;
    if (own == null) {
      for (SessionPosition place : places) {
        TreeNode node = place.resolved();
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

  private static Map<TreeNode, Integer> countOwn(List<SessionPosition> places) {
    Map<TreeNode, Integer> own = new HashMap<>();
    for (SessionPosition place : places) {
      TreeNode node = place.resolved();
      for (; node != null && !node.isRoot(); node = node.parent()) {
        own.merge(node, 1, Integer::sum);
      }
    }
    return own;
  }

  /** Frees the last page of one of a slot's places, if nobody else uses it. */
  boolean freeOne(CacheSlot slot) {
    for (SessionPosition place : slot.places()) {
      TreeNode node = place.resolved();
      if (node != null && isFree(node, claimsAt(slot, node))) {
        return cache.freeEnd(node, node.endPage(), node.endPage() - 1) > 0;
      }
    }
    return false;
  }

  private static int claimsAt(CacheSlot slot, TreeNode node) {
    int count = 0;
    for (SessionPosition place : slot.places()) {
      count += place.resolved() == node ? 1 : 0;
    }
    return count;
  }

  private static boolean isFree(TreeNode node, int ownClaims) {
    return node.claims() == ownClaims && !node.isLocked() && node.isLeaf();
  }
}
