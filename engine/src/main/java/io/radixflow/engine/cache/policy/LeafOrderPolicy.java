package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.LeafHeap;
import io.radixflow.engine.cache.TreeNode;
import java.util.function.ToLongFunction;

/**
 * Evicts nodes in the order of two numbers, smaller numbers first. Each operation takes O(log
 * leaves). The numbers follow SGLang's {@code evict_policy.py} (commit 8905cbd), with logical ticks
 * instead of times and uses instead of hits.
 */
class LeafOrderPolicy implements EvictionPolicy {
  private final String name;
  private final ToLongFunction<TreeNode> first;
  private final ToLongFunction<TreeNode> second;
  private final LeafHeap leaves;

  /**
   * @param first the number that decides
   * @param second the number that decides if the first numbers are equal
   */
  LeafOrderPolicy(String name, ToLongFunction<TreeNode> first, ToLongFunction<TreeNode> second) {
    this.name = name;
    this.first = first;
    this.second = second;
    this.leaves = new LeafHeap(this::isBefore);
  }

  private boolean isBefore(TreeNode a, TreeNode b) {
    long left = first.applyAsLong(a);
    long right = first.applyAsLong(b);
    return left != right ? left < right : second.applyAsLong(a) < second.applyAsLong(b);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void add(TreeNode node) {
    if (node.isLeaf()) {
      leaves.add(node);
    }
  }

  @Override
  public void remove(TreeNode node) {
    if (LeafHeap.contains(node)) {
      leaves.remove(node);
    }
  }

  @Override
  public void childless(TreeNode node) {
    leaves.add(node);
  }

  @Override
  public void split(TreeNode front, TreeNode back) {}

  @Override
  public boolean mergeable(TreeNode front, TreeNode back) {
    return first.applyAsLong(front) == first.applyAsLong(back)
        && second.applyAsLong(front) == second.applyAsLong(back);
  }

  @Override
  public void merged(TreeNode front, TreeNode back) {
    if (LeafHeap.contains(back)) {
      leaves.remove(back);
      leaves.add(front);
    }
  }

  @Override
  public void reprioritised(TreeNode node) {
    if (LeafHeap.contains(node)) {
      leaves.moved(node);
    }
  }

  @Override
  public TreeNode victim() {
    return leaves.first();
  }
}
