package io.radixflow.text.tokenizer;

import java.util.Arrays;

/**
 * Merges the symbols of one piece. It always merges the pair with the lowest rank, if ranks are
 * equal the leftmost, until there is no pair left.
 *
 * <p>Short pieces search for the best pair in a loop. Long pieces keep the pairs in a binary heap
 * over a linked list of symbols, which takes O(n log n), so that a hostile run of a million letters
 * is cheap. Both give the same ids. Use one instance per thread; its arrays are reused.
 */
final class BpeMerger {

  private static final int SHORT = 48;

  private final MergeTable merges;
  private int[] ids = new int[SHORT];
  private int size;

  private int[] previous;
  private int[] next;
  private long[] heap;
  private int heapSize;

  BpeMerger(MergeTable merges) {
    this.merges = merges;
  }

  /** Removes all symbols. */
  void clear() {
    size = 0;
  }

  /** Appends a symbol. */
  void add(int id) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, size * 2);
    }
    ids[size++] = id;
  }

  /** Merges the symbols. Afterwards {@link #ids} contains {@link #size} ids. */
  void merge() {
    if (size <= SHORT) {
      mergeShort();
    } else {
      mergeLong();
    }
  }

  int[] ids() {
    return ids;
  }

  int size() {
    return size;
  }

  private void mergeShort() {
    while (size > 1) {
      int best = -1;
      int bestRank = Integer.MAX_VALUE;
      int bestAt = 0;
      for (int i = 0; i + 1 < size; i++) {
        int slot = merges.find(ids[i], ids[i + 1]);
        if (slot >= 0 && merges.rank(slot) < bestRank) {
          best = slot;
          bestRank = merges.rank(slot);
          bestAt = i;
        }
      }
      if (best < 0) {
        return;
      }
      ids[bestAt] = merges.merged(best);
      System.arraycopy(ids, bestAt + 2, ids, bestAt + 1, size - bestAt - 2);
      size--;
    }
  }

  private void mergeLong() {
    linkSymbols();
    while (heapSize > 0) {
      long entry = removeLeast();
      int at = (int) entry;
      int after = next[at];
      // An entry is stale if one of its symbols has changed. The pair then has another rank or
      // none.
      int slot = ids[at] < 0 || after < 0 ? -1 : merges.find(ids[at], ids[after]);
      if (slot >= 0 && merges.rank(slot) == (int) (entry >>> 32)) {
        ids[at] = merges.merged(slot);
        ids[after] = -1;
        next[at] = next[after];
        if (next[at] >= 0) {
          previous[next[at]] = at;
        }
        offer(previous[at]);
        offer(at);
      }
    }
    int kept = 0;
    for (int i = 0; i >= 0; i = next[i]) {
      ids[kept++] = ids[i];
    }
    size = kept;
  }

  private void linkSymbols() {
    if (next == null || next.length < size) {
      next = new int[size];
      previous = new int[size];
      // There is one entry per symbol at first. A merge removes one entry and adds at most two.
      heap = new long[2 * size];
    }
    heapSize = 0;
    for (int i = 0; i < size; i++) {
      previous[i] = i - 1;
      next[i] = i + 1 < size ? i + 1 : -1;
    }
    for (int i = 0; i + 1 < size; i++) {
      offer(i);
    }
  }

  private void offer(int at) {
    if (at < 0 || next[at] < 0) {
      return;
    }
    int slot = merges.find(ids[at], ids[next[at]]);
    if (slot < 0) {
      return;
    }
    long entry = (long) merges.rank(slot) << 32 | at;
    int hole = heapSize++;
    while (hole > 0 && heap[hole - 1 >> 1] > entry) {
      heap[hole] = heap[hole - 1 >> 1];
      hole = hole - 1 >> 1;
    }
    heap[hole] = entry;
  }

  private long removeLeast() {
    long least = heap[0];
    long entry = heap[--heapSize];
    int hole = 0;
    int child = 1;
    while (child < heapSize) {
      if (child + 1 < heapSize && heap[child + 1] < heap[child]) {
        child++;
      }
      if (heap[child] >= entry) {
        break;
      }
      heap[hole] = heap[child];
      hole = child;
      child = 2 * hole + 1;
    }
    heap[hole] = entry;
    return least;
  }
}
