package io.radixflow.kernels.sampling;

import java.util.Arrays;

/**
 * Counts per token id, in an open-addressed table with linear probing that is at most half full. An
 * id may be present with count 0 (seen in the prompt only).
 *
 * <p>Not thread safe. {@link #add} allocates only when the table doubles.
 */
final class TokenCounts {

  private static final int ABSENT = -1;

  private static final int INITIAL_SLOTS = 256;

  private int[] ids = new int[INITIAL_SLOTS];
  private int[] counts = new int[INITIAL_SLOTS];
  private int size;

  TokenCounts() {
    Arrays.fill(ids, ABSENT);
  }

  /** Adds {@code amount} to an id's count. With 0 the id only becomes present. */
  void add(int id, int amount) {
    int slot = slotOf(id);
    if (ids[slot] == ABSENT) {
      if (2 * (size + 1) > ids.length) {
        grow();
        slot = slotOf(id);
      }
      ids[slot] = id;
      size++;
    }
    counts[slot] += amount;
  }

  /** Number of ids that are present. */
  int size() {
    return size;
  }

  /** Returns whether an id is present. */
  boolean has(int id) {
    return ids[slotOf(id)] == id;
  }

  /** Number of slots, for a walk over {@link #idAt} and {@link #countAt}. */
  int slots() {
    return ids.length;
  }

  /** The id in a slot, or -1 for an empty slot. */
  int idAt(int slot) {
    return ids[slot];
  }

  /** The count in a slot. */
  int countAt(int slot) {
    return counts[slot];
  }

  private int slotOf(int id) {
    int mask = ids.length - 1;
    int slot = (id * 0x9E3779B9 >>> 7) & mask;
    while (ids[slot] != ABSENT && ids[slot] != id) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    int[] oldIds = ids;
    int[] oldCounts = counts;
    ids = new int[oldIds.length * 2];
    counts = new int[ids.length];
    Arrays.fill(ids, ABSENT);
    for (int i = 0; i < oldIds.length; i++) {
      if (oldIds[i] != ABSENT) {
        int slot = slotOf(oldIds[i]);
        ids[slot] = oldIds[i];
        counts[slot] = oldCounts[i];
      }
    }
  }
}
