package io.radixflow.lab.replay.sglang;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * SGLang's {@code RadixCache} (commit 8905cbd), operation by operation: a look-up splits the node
 * in which it ends, an eviction frees whole nodes.
 *
 * <p><b>Time.</b> The clock ticks at each reading, so no two readings are equal. An operation reads
 * it once on entry and stamps the root and each visited node with that time, even a node that it
 * then splits. A node that a split or an insertion creates gets a later time. So only nodes of one
 * path share an access time, and only one of them can be a leaf. Therefore the order of leaves is
 * total under each {@link CompatPolicy}, and there are no ties.
 *
 * <p>All counts are in units: tokens or pairs of tokens. Owned by one thread.
 */
public final class CompatTree {
  private final CompatPolicy policy;
  private final int pageUnits;
  private final boolean bigram;
  private final CompatNode root;
  private final Set<CompatNode> evictableLeaves = new LinkedHashSet<>();

  private long clock;
  private int evictable;
  private int protectedUnits;
  private int total;
  private int nodes;

  /**
   * @param pageUnits units per page; a key counts up to its last whole page
   * @param bigram whether keys are of pairs of tokens
   * @throws IllegalArgumentException if a page is empty
   */
  public CompatTree(CompatPolicy policy, int pageUnits, boolean bigram) {
    if (pageUnits < 1) {
      throw new IllegalArgumentException("a page must have at least 1 unit, not " + pageUnits);
    }
    this.policy = policy;
    this.pageUnits = pageUnits;
    this.bigram = bigram;
    CompatKey empty = CompatKey.of(null, new int[0], false);
    this.root = new CompatNode(null, empty, new int[0], Integer.MIN_VALUE, tick());
  }

  /** Returns the number of units that no lock protects. */
  public int evictable() {
    return evictable;
  }

  /** Returns the number of units on the path of a lock. */
  public int protectedUnits() {
    return protectedUnits;
  }

  public int total() {
    return total;
  }

  public int nodes() {
    return nodes;
  }

  public int evictableLeaves() {
    return evictableLeaves.size();
  }

  /** Finds the longest cached prefix, and splits the node in which it ends. */
  public CompatMatch match(String namespace, int[] tokens) {
    CompatKey rest = CompatKey.of(namespace, tokens, bigram).wholePages(pageUnits);
    IntStream.Builder slots = IntStream.builder();
    long now = tick();
    CompatNode node = root;
    CompatNode child = childFor(node, rest);
    while (child != null) {
      child.accessedAt = now;
      int matched = child.key.matchLength(rest, pageUnits);
      node = matched < child.length() ? split(child, matched) : child;
      Arrays.stream(node.slots).forEach(slots::add);
      rest = rest.from(matched);
      child = node == child ? childFor(node, rest) : null;
    }
    return new CompatMatch(slots.build().toArray(), node);
  }

  /**
   * Adds the missing units of a sequence.
   *
   * @param slots at least one slot for each unit
   * @param priority the priority of the new node, to which the path's priority is raised
   * @return number of units that were present before; their slots in the tree do not change
   */
  public int insert(String namespace, int[] tokens, int[] slots, int priority) {
    CompatKey key = CompatKey.of(namespace, tokens, bigram).wholePages(pageUnits);
    long now = tick();
    CompatNode node = root;
    int present = 0;
    CompatKey rest = key;
    for (CompatNode child = childFor(node, rest); child != null; child = childFor(node, rest)) {
      child.accessedAt = now;
      int matched = child.key.matchLength(rest, pageUnits);
      present += matched;
      rest = key.from(present);
      node = matched < child.length() ? split(child, matched) : child;
      node.hit(priority);
    }
    if (rest.length() > 0) {
      add(node, rest, Arrays.copyOfRange(slots, present, key.length()), priority);
    }
    return present;
  }

  /** Protects a node and its ancestors from eviction. */
  public void lock(CompatNode node) {
    for (CompatNode each = node; !each.isRoot(); each = each.parent) {
      if (each.lockCount++ == 0) {
        evictable -= each.length();
        protectedUnits += each.length();
      }
      updateLeaf(each);
    }
  }

  /**
   * Undoes one {@link #lock}; does not count as an access.
   *
   * @throws IllegalStateException if there was none
   */
  public void unlock(CompatNode node) {
    for (CompatNode each = node; !each.isRoot(); each = each.parent) {
      if (each.lockCount == 0) {
        throw new IllegalStateException("a node is unlocked more often than it was locked");
      }
      if (--each.lockCount == 0) {
        evictable += each.length();
        protectedUnits -= each.length();
      }
      updateLeaf(each);
    }
  }

  /**
   * Frees leaf after leaf until at least {@code units} units are free or no leaf is evictable.
   *
   * @return the slots of the leaves, in the order of eviction
   */
  public int[] evict(int units) {
    PriorityQueue<CompatNode> heap = new PriorityQueue<>(policy.order());
    heap.addAll(evictableLeaves);
    IntStream.Builder freed = IntStream.builder();
    int count = 0;
    while (count < units && !heap.isEmpty()) {
      CompatNode leaf = heap.poll();
      CompatNode parent = leaf.parent;
      Arrays.stream(leaf.slots).forEach(freed::add);
      count += leaf.length();
      remove(leaf);
      if (evictableLeaves.contains(parent)) {
        heap.add(parent);
      }
    }
    return freed.build().toArray();
  }

  private long tick() {
    return ++clock;
  }

  private CompatNode childFor(CompatNode node, CompatKey rest) {
    return rest.length() == 0 ? null : node.children.get(rest.firstPage(pageUnits));
  }

  private CompatNode split(CompatNode node, int units) {
    nodes++;
    return node.split(units, pageUnits, tick());
  }

  private void add(CompatNode parent, CompatKey key, int[] slots, int priority) {
    CompatNode leaf = new CompatNode(parent, key, slots, priority, tick());
    leaf.hit(priority);
    parent.addChild(leaf, pageUnits);
    nodes++;
    total += leaf.length();
    evictable += leaf.length();
    updateLeaf(parent);
    updateLeaf(leaf);
  }

  private void remove(CompatNode leaf) {
    leaf.parent.removeChild(leaf, pageUnits);
    nodes--;
    total -= leaf.length();
    evictable -= leaf.length();
    evictableLeaves.remove(leaf);
    updateLeaf(leaf.parent);
  }

  private void updateLeaf(CompatNode node) {
    if (!node.isRoot() && node.lockCount == 0 && node.children.isEmpty()) {
      evictableLeaves.add(node);
    } else {
      evictableLeaves.remove(node);
    }
  }
}
