package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.NodeList;
import io.radixflow.engine.cache.TreeNode;

/** Evicts the least recently used page first; every operation is O(1). */
final class LruPolicy implements EvictionPolicy {
  private final NodeList nodes = new NodeList();

  @Override
  public String name() {
    return "lru";
  }

  @Override
  public void add(TreeNode node) {
    nodes.addNewest(node);
  }

  @Override
  public void remove(TreeNode node) {
    nodes.remove(node);
  }

  @Override
  public void split(TreeNode front, TreeNode back) {
    nodes.addAfter(front, back);
  }

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    return back.newer() == front;
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    nodes.remove(back);
  }

  @Override
  public TreeNode victim() {
    return nodes.oldest();
  }
}
