package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.TreeNode;

/**
 * Remembers how often and when evicted pages were used. The memory is limited: a page's hash
 * selects a group of {@link #WAYS} entries, and the least recently used entry of the group is
 * replaced. Every operation is O(1) and allocates nothing. An entry takes 21 bytes.
 *
 * <p>Two pages with equal hashes are treated as the same page. This only makes the statistics less
 * accurate.
 */
final class GhostPages {
  private static final int WAYS = 8;

  /** Evicted pages to remember per page of the pool. */
  private static final int A_PAGE = 4;

  /**
   * The minimum number of entries, 1.4 MB: a small cache must look back as far as a large cache.
   */
  private static final int LEAST = 1 << 16;

  private static final int MOST = 1 << 26;

  private final int groupMask;
  private final long[] hashes;
  private final long[] lastUses;
  private final int[] uses;
  private final byte[] turns;

  /**
   * @param entries minimum number of pages to remember; rounded up to a power of two
   */
  GhostPages(int entries) {
    int groups = Integer.highestOneBit(Math.max(1, (entries - 1) / WAYS)) * 2;
    groupMask = groups - 1;
    hashes = new long[groups * WAYS];
    lastUses = new long[hashes.length];
    uses = new int[hashes.length];
    turns = new byte[hashes.length];
  }

  /** Creates the memory for a pool of {@code capacity} pages. */
  static GhostPages forPool(int capacity) {
    return new GhostPages((int) Math.min(MOST, Math.max(LEAST, (long) A_PAGE * capacity)));
  }

  /** Returns the maximum number of pages that can be remembered. */
  int entries() {
    return hashes.length;
  }

  /** Remembers a page of a node that leaves the tree. */
  void put(long hash, TreeNode node) {
    int entry = find(hash);
    if (entry < 0) {
      entry = oldest(hash);
    }
    hashes[entry] = hash;
    uses[entry] = Math.max(1, node.uses());
    lastUses[entry] = node.lastUsedAt();
    turns[entry] = node.turn();
  }

  /** Returns the entry of a page, or -1. */
  int find(long hash) {
    int first = firstOf(hash);
    for (int i = first; i < first + WAYS; i++) {
      if (hashes[i] == hash && uses[i] > 0) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the number of uses of a page; 0 if the page is not remembered. */
  int usesBefore(long hash) {
    int entry = find(hash);
    return entry < 0 ? 0 : uses[entry];
  }

  private int oldest(long hash) {
    int first = firstOf(hash);
    int oldest = first;
    for (int i = first; i < first + WAYS; i++) {
      if (uses[i] == 0) {
        return i;
      }
      if (lastUses[i] < lastUses[oldest]) {
        oldest = i;
      }
    }
    return oldest;
  }

  private int firstOf(long hash) {
    return ((int) (hash >>> 32) & groupMask) * WAYS;
  }

  int uses(int entry) {
    return uses[entry];
  }

  /** Returns the turn in which the page of an entry was stored, or 0. */
  int turn(int entry) {
    return turns[entry];
  }

  /** Returns when the page of an entry was last used, on the tree's clock. */
  long lastUsedAt(int entry) {
    return lastUses[entry];
  }

  /** Removes the page of an entry. */
  void forget(int entry) {
    uses[entry] = 0;
  }
}
