package io.radixflow.engine.schedule;

import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Traverses the tree depth first to the nodes where the requests' cached prefixes end. The child
 * with the most waiting requests comes first, and a node's own requests come after the requests of
 * its children. So requests that share a prefix run together, and requests with the longest shared
 * prefix run first.
 */
record DfsWeightOrder(KvPages pages) implements WaitingOrder {
  /** A node of the cache with the waiting requests whose prefixes end at or below it. */
  private static final class Subtree {
    final List<Subtree> children = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    int weight;
    int nextChild;
  }

  @Override
  public void rank(List<Request> waiting, List<Request> running) {
    Subtree top = new Subtree();
    Map<TreeNode, Subtree> subtrees = new IdentityHashMap<>();
    for (Request request : waiting) {
      TreeNode end = pages.match(request).node();
      subtreeOf(end, subtrees, top).requests.add(request);
      for (TreeNode node = end; node != null; node = node.parent()) {
        subtrees.get(node).weight++;
      }
    }
    walk(top);
  }

  /** Returns the subtree of a node; creates missing subtrees of the node and its ancestors. */
  private static Subtree subtreeOf(TreeNode node, Map<TreeNode, Subtree> subtrees, Subtree top) {
    if (node == null) {
      return top;
    }
    Subtree subtree = subtrees.get(node);
    if (subtree != null) {
      return subtree;
    }
    subtree = new Subtree();
    subtrees.put(node, subtree);
    Subtree below = subtree;
    TreeNode parent = node.parent();
    for (; parent != null && !subtrees.containsKey(parent); parent = parent.parent()) {
      Subtree above = new Subtree();
      subtrees.put(parent, above);
      above.children.add(below);
      below = above;
    }
    (parent == null ? top : subtrees.get(parent)).children.add(below);
    return subtree;
  }

  private static void walk(Subtree top) {
    Deque<Subtree> path = new ArrayDeque<>();
    enter(path, top);
    long rank = 0;
    while (!path.isEmpty()) {
      Subtree subtree = path.peek();
      if (subtree.nextChild < subtree.children.size()) {
        enter(path, subtree.children.get(subtree.nextChild++));
      } else {
        for (Request request : path.pop().requests) {
          request.standing.rank(rank++);
        }
      }
    }
  }

  private static void enter(Deque<Subtree> path, Subtree subtree) {
    subtree.children.sort(Comparator.comparingInt(child -> -child.weight));
    path.push(subtree);
  }
}
