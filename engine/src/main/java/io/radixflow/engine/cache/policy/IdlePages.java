package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.NodeList;
import io.radixflow.engine.cache.TreeNode;
import java.util.Arrays;

/**
 * Counts the pages that wait for their next use, including evicted pages, by kind and time of last
 * use. It also lists the leaves of the tree that may be evicted.
 *
 * <p>Times of last use are grouped into slots. The latest slot is one tick wide. When there are
 * more than {@link #SLOTS_A_LEVEL} slots of one width, the two oldest of them are merged (an
 * exponential histogram; Datar, Gionis, Indyk, Motwani 2002). So there are at most about 150 slots,
 * and no slot is wider than about a quarter of its age. All operations take amortised O(1) or O(log
 * slots).
 */
final class IdlePages {
  private static final int SLOTS_A_LEVEL = 8;
  private static final int LEVELS = 22;

  private static final class Slot {
    final double[] waiting;
    final NodeList[] leaves;
    int level;

    Slot(int kinds) {
      waiting = new double[kinds];
      leaves = new NodeList[kinds];
      Arrays.setAll(leaves, kind -> new NodeList());
    }
  }

  private final int kinds;

  /** Slots in use, the oldest first, then unused slots. */
  private final Slot[] slots = new Slot[(SLOTS_A_LEVEL + 1) * LEVELS];

  /** The first tick of each slot, in its own array so that a search reads little memory. */
  private final long[] starts = new long[slots.length];

  /** For each slot, one bit per kind that has leaves in it. */
  private final int[] occupied = new int[slots.length];

  private int size;

  /**
   * @param kinds number of kinds of pages, at most 32
   */
  IdlePages(int kinds) {
    this.kinds = kinds;
    begin(0);
  }

  int slots() {
    return size;
  }

  /**
   * Creates a slot for pages used at a tick; ticks never decrease. Returns whether the slots
   * changed.
   */
  boolean begin(long tick) {
    if (size > 0 && starts[size - 1] >= tick) {
      return false;
    }
    if (slots[size] == null) {
      slots[size] = new Slot(kinds);
    }
    slots[size].level = 0;
    starts[size] = tick;
    occupied[size] = 0;
    size++;
    mergeOldest();
    return true;
  }

  private void mergeOldest() {
    int end = size;
    for (int level = 0; level < LEVELS - 1; level++) {
      int first = end;
      while (first > 0 && slots[first - 1].level == level) {
        first--;
      }
      if (end - first <= SLOTS_A_LEVEL) {
        return;
      }
      merge(first);
      end = first + 1;
    }
  }

  /** Merges a slot and the next slot into one slot of the next level. */
  private void merge(int first) {
    Slot into = slots[first];
    Slot from = slots[first + 1];
    for (int kind = 0; kind < kinds; kind++) {
      into.leaves[kind].takeIn(from.leaves[kind]);
      into.waiting[kind] += from.waiting[kind];
      from.waiting[kind] = 0;
    }
    into.level++;
    occupied[first] |= occupied[first + 1];
    size--;
    int moved = size - first - 1;
    System.arraycopy(slots, first + 2, slots, first + 1, moved);
    System.arraycopy(starts, first + 2, starts, first + 1, moved);
    System.arraycopy(occupied, first + 2, occupied, first + 1, moved);
    slots[size] = from;
  }

  /** Returns the slot of pages last used at a tick. */
  int slotOf(long tick) {
    int low = 0;
    int high = size - 1;
    if (starts[high] <= tick) {
      return high;
    }
    while (low < high) {
      int middle = low + high + 1 >>> 1;
      if (starts[middle] <= tick) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Returns the ticks between the middle of a slot and {@code now}. */
  long age(int slot, long now) {
    long end = slot + 1 < size ? starts[slot + 1] - 1 : Math.max(now, starts[slot]);
    return now - (starts[slot] + end) / 2;
  }

  /** Adds a leaf to the leaves of its kind that were last used in the same slot. */
  void addLeaf(TreeNode leaf, int kind, boolean asOldest) {
    int slot = slotOf(leaf.lastUsedAt());
    occupied[slot] |= 1 << kind;
    if (asOldest) {
      slots[slot].leaves[kind].addOldest(leaf);
    } else {
      slots[slot].leaves[kind].addNewest(leaf);
    }
  }

  /** Removes a leaf from the leaves of its kind. */
  void removeLeaf(TreeNode leaf, int kind) {
    int slot = slotOf(leaf.lastUsedAt());
    NodeList leaves = slots[slot].leaves[kind];
    leaves.remove(leaf);
    if (leaves.oldest() == null) {
      occupied[slot] &= ~(1 << kind);
    }
  }

  /** Returns the kinds of the leaves in a slot, as one bit per kind. */
  int occupiedKinds(int slot) {
    return occupied[slot];
  }

  /** Returns the leaves of a kind that were last used in a slot, in the order of their use. */
  NodeList leaves(int slot, int kind) {
    return slots[slot].leaves[kind];
  }

  /** Returns the weight of the pages of a kind that were last used in a slot and not since. */
  double waiting(int slot, int kind) {
    return Math.max(0, slots[slot].waiting[kind]);
  }

  /** Adds {@code weight}, which may be negative, to the weight of pages last used at a tick. */
  void addWaiting(long tick, int kind, double weight) {
    slots[slotOf(tick)].waiting[kind] += weight;
  }

  /** Multiplies all weights. */
  void scale(double factor) {
    for (int i = 0; i < size; i++) {
      for (int kind = 0; kind < kinds; kind++) {
        slots[i].waiting[kind] *= factor;
      }
    }
  }
}
