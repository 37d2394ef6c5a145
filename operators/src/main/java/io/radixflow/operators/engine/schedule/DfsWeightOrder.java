package io.radixflow.operators.engine.schedule;

import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.engine.pages.KvPages;
import io.radixflow.operators.engine.request.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Depth first through the nodes where the requests' cached prefixes end: below a node, the child
 * with most waiting requests first; a node's own requests after those of its children. So requests
 * that share a prefix run together, and the longest shared one first.
 */
final class DfsWeightOrder implements WaitingOrder {
  private final KvPages pages;

  /** A node of the cache with what waits at and below it. */
  private static final class Place {
    final List<Place> children = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    int weight;
    int nextChild;
  }

  DfsWeightOrder(KvPages pages) {
    this.pages = pages;
  }

  @Override
  public void rank(List<Request> waiting, List<Request> running) {
    Place top = new Place();
    Map<TreeNode, Place> places = new IdentityHashMap<>();
    for (Request request : waiting) {
      TreeNode end = pages.match(request).node();
      placeOf(end, places, top).requests.add(request);
      for (TreeNode node = end; node != null; node = node.parent()) {
        places.get(node).weight++;
      }
    }
    walk(top);
  }

  /** The place of a node, made with those of its ancestors if it is new. */
  private static Place placeOf(TreeNode node, Map<TreeNode, Place> places, Place top) {
    if (node == null) {
      return top;
    }
    Place place = places.get(node);
    if (place != null) {
      return place;
    }
    place = new Place();
    places.put(node, place);
    Place below = place;
    TreeNode parent = node.parent();
    for (; parent != null && !places.containsKey(parent); parent = parent.parent()) {
      Place above = new Place();
      places.put(parent, above);
      above.children.add(below);
      below = above;
    }
    (parent == null ? top : places.get(parent)).children.add(below);
    return place;
  }

  private static void walk(Place top) {
    Deque<Place> path = new ArrayDeque<>();
    enter(path, top);
    long rank = 0;
    while (!path.isEmpty()) {
      Place place = path.peek();
      if (place.nextChild < place.children.size()) {
        enter(path, place.children.get(place.nextChild++));
      } else {
        for (Request request : path.pop().requests) {
          request.rank = rank++;
        }
      }
    }
  }

  private static void enter(Deque<Place> path, Place place) {
    place.children.sort(Comparator.comparingInt(child -> -child.weight));
    path.push(place);
  }
}
