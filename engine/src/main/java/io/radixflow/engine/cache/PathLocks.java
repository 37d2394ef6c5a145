package io.radixflow.engine.cache;

/**
 * The locks on the paths of a tree, and the number of pages that they protect. A lock counts at its
 * end node and at all nodes above it. The eviction policy contains the nodes that are not locked.
 */
final class PathLocks {
  private final RadixTree tree;
  private final EvictionPolicy policy;
  private int evictablePages;
  private int protectedPages;

  PathLocks(RadixTree tree, EvictionPolicy policy) {
    this.tree = tree;
    this.policy = policy;
  }

  /** Returns the number of pages in unlocked nodes. */
  int evictablePages() {
    return evictablePages;
  }

  /** Returns the number of pages in locked nodes. */
  int protectedPages() {
    return protectedPages;
  }

  /** Counts pages that were added to a locked node. */
  void storedPages(int count) {
    protectedPages += count;
  }

  /** Counts a page that has left an unlocked node. */
  void freedPage() {
    evictablePages--;
  }

  /** Locks a node and all nodes above it. */
  void lock(TreeNode end) {
    for (TreeNode each = end; each != null; each = each.parent) {
      extendTo(each);
    }
  }

  /** Moves the end of a lock from a node to its child. */
  void extendTo(TreeNode child) {
    if (child.lockCount++ == 0 && child.parent != null) {
      evictablePages -= child.pageCount();
      protectedPages += child.pageCount();
      policy.remove(child);
    }
  }

  /**
   * Releases one lock.
   *
   * @param end the node at which the lock ends
   * @param hit whether the release counts as a use of the path
   * @param now the tick to record as the last use of the path
   */
  void unlock(TreeNode end, boolean hit, long now) {
    TreeNode root = end;
    for (TreeNode each = end, next; each != null; each = next) {
      next = each.parent;
      if (each.lockCount == 0) {
        throw new IllegalStateException("a node is unlocked more often than it was locked");
      }
      root = each;
      each.fresh = false;
      each.lastUsedAt = now;
      each.uses += hit && each.uses < Integer.MAX_VALUE ? 1 : 0;
      if (--each.lockCount == 0 && each.parent != null) {
        protectedPages -= each.pageCount();
        evictablePages += each.pageCount();
        policy.add(each);
      }
    }
    tree.dropIfEmpty(root);
    for (TreeNode each = end, next; each != root; each = next) {
      next = each.parent;
      tree.mergeWithOnlyChild(each);
    }
  }

  /** Returns how many of the matched pages are not locked. */
  int evictablePages(PrefixMatch match) {
    TreeNode node = match.node();
    if (match.pages() == 0 || node.lockCount > 0) {
      return 0;
    }
    int pages = match.offset();
    for (node = node.parent; node.lockCount == 0 && !node.isRoot(); node = node.parent) {
      pages += node.pageCount();
    }
    return pages;
  }

  /** Returns how many pages are protected only by the lock that ends at a node. */
  int pagesLockedOnce(TreeNode locked) {
    int pages = 0;
    for (TreeNode each = locked; !each.isRoot() && each.lockCount == 1; each = each.parent) {
      pages += each.pageCount();
    }
    return pages;
  }

  /** Recounts both kinds of pages; returns whether the counters were right. */
  boolean recount() {
    int[] counts = new int[2];
    tree.forEachNode(node -> counts[node.lockCount > 0 ? 1 : 0] += node.pageCount());
    boolean right = counts[0] == evictablePages && counts[1] == protectedPages;
    evictablePages = counts[0];
    protectedPages = counts[1];
    return right;
  }
}
