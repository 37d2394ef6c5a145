package io.radixflow.gateway.live;

import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The radix tree of an engine, built from its blocks. A node is a run of consecutive blocks without
 * a branch, in the same tiers. Nothing here recurses, because a tree may be as deep as a
 * conversation is long. Blocks whose parents form a cycle are left out; no engine writes such
 * blocks.
 */
final class CacheTree {

  private static final Comparator<Node> LARGEST_FIRST =
      Comparator.comparingLong(Node::subtreeBlocks)
          .reversed()
          .thenComparingLong(Node::firstBlock)
          .thenComparingLong(Node::id);

  private final List<Node> roots = new ArrayList<>();
  private int size;
  private long blocks;

  private CacheTree() {}

  /** A page, in one tier or several. */
  private static final class Block {
    private final KvEvent.Stored stored;
    private final List<Block> children = new ArrayList<>(1);
    private int tiers;
    private long storedAt;

    Block(KvEvent.Stored stored) {
      this.stored = stored;
    }

    boolean goesOnIn(Block next) {
      return children.size() == 1
          && next.tiers == tiers
          && next.stored.namespace().equals(stored.namespace());
    }
  }

  /** A run of blocks. */
  static final class Node {
    private final Node parent;
    private final Block head;
    private final long firstBlock;
    private final List<Node> children = new ArrayList<>();
    private long blockCount;
    private long subtreeBlocks;
    private long storedAt;
    private int subtreeNodes = 1;
    private int ends;
    private int index = -1;

    private Node(Node parent, Block head) {
      this.parent = parent;
      this.head = head;
      this.firstBlock = parent == null ? 0 : parent.firstBlock + parent.blockCount;
    }

    /** Returns the id of the first block; it stays the same while the node grows or is split. */
    long id() {
      return head.stored.block();
    }

    /** Returns the index of the parent in {@link #largest}, or -1. */
    int parentIndex() {
      return parent == null ? -1 : parent.index;
    }

    String namespace() {
      return head.stored.namespace();
    }

    boolean isIn(KvTier tier) {
      return (head.tiers & 1 << tier.ordinal()) != 0;
    }

    /** Returns the number of blocks before the node. */
    long firstBlock() {
      return firstBlock;
    }

    long blockCount() {
      return blockCount;
    }

    /** Returns the number of blocks of the node and of all nodes below it. */
    long subtreeBlocks() {
      return subtreeBlocks;
    }

    /** Returns the number of leaves at the node or below it: prefixes that share its blocks. */
    int ends() {
      return ends;
    }

    /** Returns when the node's latest block was stored, in milliseconds since the epoch. */
    long storedAt() {
      return storedAt;
    }

    /** Returns the number of descendants that {@link #largest} has left out. */
    int hidden() {
      return children.stream().filter(child -> child.index < 0).mapToInt(n -> n.subtreeNodes).sum();
    }

    /** Returns the number of blocks of the hidden nodes. */
    long hiddenBlocks() {
      return children.stream()
          .filter(child -> child.index < 0)
          .mapToLong(n -> n.subtreeBlocks)
          .sum();
    }
  }

  /** Builds the tree of an engine. */
  static CacheTree of(String engine, KvEventsView view) {
    Map<Long, Block> blocks = new HashMap<>();
    view.visitBlocks(
        engine,
        (stored, timestamp) -> {
          Block block = blocks.computeIfAbsent(stored.block(), id -> new Block(stored));
          block.tiers |= 1 << stored.tier().ordinal();
          block.storedAt = Math.max(block.storedAt, timestamp);
        });
    List<Block> heads = new ArrayList<>();
    for (Block block : blocks.values()) {
      Block parent = block.stored.parent() == null ? null : blocks.get(block.stored.parent());
      (parent == null ? heads : parent.children).add(block);
    }
    CacheTree tree = new CacheTree();
    tree.build(heads);
    return tree;
  }

  private void build(List<Block> heads) {
    List<Node> order = new ArrayList<>();
    heads.forEach(head -> order.add(new Node(null, head)));
    roots.addAll(order);
    for (int i = 0; i < order.size(); i++) {
      Node node = order.get(i);
      Block last = extend(node);
      for (Block child : last.children) {
        Node below = new Node(node, child);
        node.children.add(below);
        order.add(below);
      }
    }
    for (int i = order.size() - 1; i >= 0; i--) {
      Node node = order.get(i);
      node.subtreeBlocks += node.blockCount;
      node.ends = Math.max(1, node.ends);
      if (node.parent != null) {
        node.parent.subtreeBlocks += node.subtreeBlocks;
        node.parent.subtreeNodes += node.subtreeNodes;
        node.parent.ends += node.ends;
      }
      blocks += node.blockCount;
    }
    size = order.size();
  }

  /** Counts the node's blocks and returns the last. */
  private static Block extend(Node node) {
    Block last = node.head;
    node.blockCount = 1;
    node.storedAt = last.storedAt;
    while (last.children.size() == 1 && last.goesOnIn(last.children.get(0))) {
      last = last.children.get(0);
      node.blockCount++;
      node.storedAt = Math.max(node.storedAt, last.storedAt);
    }
    return last;
  }

  /** Returns the number of all nodes. */
  int size() {
    return size;
  }

  /** Returns the number of all blocks. */
  long blocks() {
    return blocks;
  }

  /**
   * Returns the nodes with the most blocks in their subtrees, each after its parent. Call it only
   * once.
   */
  List<Node> largest(int count) {
    PriorityQueue<Node> next = new PriorityQueue<>(LARGEST_FIRST);
    next.addAll(roots);
    List<Node> chosen = new ArrayList<>();
    while (chosen.size() < count && !next.isEmpty()) {
      Node node = next.poll();
      node.index = chosen.size();
      chosen.add(node);
      next.addAll(node.children);
    }
    return chosen;
  }
}
