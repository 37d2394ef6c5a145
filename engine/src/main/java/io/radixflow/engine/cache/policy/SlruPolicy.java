package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.NodeList;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;

/**
 * Segmented LRU: pages used at least twice are protected, the others go first; O(1) an operation.
 * With a share below 1 the protected segment is bounded, and what exceeds it becomes the newest of
 * the others (Karedla, Love, Wherry 1994); with 1 this is SGLang's rule.
 */
public final class SlruPolicy implements EvictionPolicy {
  private final int threshold;
  private final long protectedLimit;
  private final NodeList probation = new NodeList();
  private final NodeList protectedNodes = new NodeList();
  private RadixCache cache;
  private long protectedPages;

  /**
   * @param threshold uses from which on a page is protected
   * @param protectedLimit most pages of the protected segment
   */
  public SlruPolicy(int threshold, long protectedLimit) {
    this.threshold = threshold;
    this.protectedLimit = protectedLimit;
  }

  @Override
  public String name() {
    return "slru";
  }

  @Override
  public void attach(RadixCache cache) {
    this.cache = cache;
  }

  @Override
  public void add(TreeNode node) {
    if (node.uses() < threshold) {
      probation.addNewest(node);
      return;
    }
    protectedNodes.addNewest(node);
    protectedPages += node.pageCount();
    while (protectedPages > protectedLimit) {
      demote(protectedNodes.oldest());
    }
  }

  /** Moves the end of a protected node to the others, as much of it as there is too much. */
  private void demote(TreeNode node) {
    int excess = (int) Math.min(node.pageCount(), protectedPages - protectedLimit);
    if (excess < node.pageCount()) {
      cache.split(node, node.pageCount() - excess);
    }
    protectedNodes.remove(node);
    probation.addNewest(node);
    protectedPages -= excess;
  }

  @Override
  public void remove(TreeNode node) {
    if (node.list() == protectedNodes) {
      protectedPages -= node.pageCount();
    }
    node.list().remove(node);
  }

  @Override
  public void split(TreeNode front, TreeNode back) {
    back.list().addAfter(front, back);
  }

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    return back.list() == front.list()
        && back.newer() == front
        && Math.min(back.uses(), threshold) == Math.min(front.uses(), threshold);
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    back.list().remove(back);
  }

  @Override
  public TreeNode victim() {
    TreeNode node = probation.oldest();
    return node != null ? node : protectedNodes.oldest();
  }

  @Override
  public void evicted(TreeNode node, long pageHash) {
    if (node.list() == protectedNodes) {
      protectedPages--;
    }
  }
}
