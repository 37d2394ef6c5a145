package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.NodeList;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;

/**
 * Segmented LRU: pages that were used at least twice are protected, and all other pages are evicted
 * first. Each operation is O(1). With a share below 1 the protected segment is limited, and pages
 * that exceed the limit become the newest unprotected pages (Karedla, Love, Wherry 1994). With a
 * share of 1 the rule is SGLang's.
 */
public final class SlruPolicy implements EvictionPolicy {
  private final int threshold;
  private final long protectedLimit;
  private final NodeList probation = new NodeList();
  private final NodeList protectedNodes = new NodeList();
  private RadixCache cache;
  private long protectedPages;

  /**
   * @param threshold number of uses that makes a page protected
   * @param protectedLimit maximum pages of the protected segment
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

  /**
   * Moves pages from the end of a protected node to the unprotected pages, until the protected
   * segment is within its limit.
   */
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
