package io.radixflow.engine.cache;

import java.util.Arrays;

/**
 * A binary heap of the nodes that may be evicted; the node to evict first is on top. Each node
 * records its index in the heap, so adding or removing any node costs O(log leaves).
 */
public final class LeafHeap {

  /**
   * Decides which of two nodes is evicted first. The values that it compares may change only if
   * {@link #moved} is called.
   */
  public interface Order {
    boolean isBefore(TreeNode a, TreeNode b);
  }

  private final Order order;
  private TreeNode[] nodes = new TreeNode[16];
  private int size;

  public LeafHeap(Order order) {
    this.order = order;
  }

  /** Returns whether a node is in a heap; a node is in at most one heap. */
  public static boolean contains(TreeNode node) {
    return node.heapIndex >= 0;
  }

  /** Returns the node to evict first, or null. */
  public TreeNode first() {
    return size == 0 ? null : nodes[0];
  }

  int size() {
    return size;
  }

  public void add(TreeNode node) {
    if (size == nodes.length) {
      nodes = Arrays.copyOf(nodes, 2 * size);
    }
    put(node, size++);
    rise(node);
  }

  public void remove(TreeNode node) {
    int index = node.heapIndex;
    TreeNode last = nodes[--size];
    nodes[size] = null;
    node.heapIndex = -1;
    if (last != node) {
      put(last, index);
      rise(last);
      sink(last);
    }
  }

  /** Restores the order after the values of a node have changed. */
  public void moved(TreeNode node) {
    rise(node);
    sink(node);
  }

  private void rise(TreeNode node) {
    int index = node.heapIndex;
    while (index > 0 && order.isBefore(node, nodes[index - 1 >> 1])) {
      put(nodes[index - 1 >> 1], index);
      index = index - 1 >> 1;
    }
    put(node, index);
  }

  private void sink(TreeNode node) {
    int index = node.heapIndex;
    while (2 * index + 1 < size) {
      int child = 2 * index + 1;
      if (child + 1 < size && order.isBefore(nodes[child + 1], nodes[child])) {
        child++;
      }
      if (!order.isBefore(nodes[child], node)) {
        break;
      }
      put(nodes[child], index);
      index = child;
    }
    put(node, index);
  }

  private void put(TreeNode node, int index) {
    nodes[index] = node;
    node.heapIndex = index;
  }
}
