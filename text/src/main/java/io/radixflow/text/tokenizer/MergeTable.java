package io.radixflow.text.tokenizer;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The merges of a BPE vocabulary. A pair of token ids has a rank (lower ranks merge first) and the
 * id of the merged token. An open-addressed table that is at most half full, and read-only once it
 * is filled.
 */
final class MergeTable {

  private static final long EMPTY = -1;

  private final long[] keys;
  private final int[] ranks;
  private final int[] merged;
  private final int mask;

  /**
   * @param most the largest number of pairs that will be added
   */
  MergeTable(int most) {
    int capacity = Integer.highestOneBit(Math.max(8, most)) << 2;
    keys = new long[capacity];
    ranks = new int[capacity];
    merged = new int[capacity];
    mask = capacity - 1;
    Arrays.fill(keys, EMPTY);
  }

  /**
   * Creates a table of listed pairs, best first, on all processors. Ignores pairs with a text that
   * is not a token.
   *
   * @param pairs texts of the two tokens of each merge
   * @param ids the id of each token's text
   */
  static MergeTable of(List<String[]> pairs, Map<String, Integer> ids) {
    int count = pairs.size();
    int[] found = new int[3 * count];
    IntStream.range(0, count)
        .parallel()
        .forEach(
            rank -> {
              String[] pair = pairs.get(rank);
              found[3 * rank] = ids.getOrDefault(pair[0], -1);
              found[3 * rank + 1] = ids.getOrDefault(pair[1], -1);
              found[3 * rank + 2] = ids.getOrDefault(pair[0] + pair[1], -1);
            });
    MergeTable table = new MergeTable(count);
    for (int rank = 0; rank < count; rank++) {
      if (found[3 * rank] >= 0 && found[3 * rank + 1] >= 0 && found[3 * rank + 2] >= 0) {
        table.put(found[3 * rank], found[3 * rank + 1], rank, found[3 * rank + 2]);
      }
    }
    return table;
  }

  /** Adds a pair. If the pair is already in the table, it keeps its rank. */
  void put(int left, int right, int rank, int mergedId) {
    long key = key(left, right);
    int slot = start(key);
    while (keys[slot] != EMPTY && keys[slot] != key) {
      slot = slot + 1 & mask;
    }
    if (keys[slot] == EMPTY) {
      keys[slot] = key;
      ranks[slot] = rank;
      merged[slot] = mergedId;
    }
  }

  /** Returns the slot of a pair, or -1 if the pair cannot be merged. */
  int find(int left, int right) {
    long key = key(left, right);
    int slot = start(key);
    while (keys[slot] != key) {
      if (keys[slot] == EMPTY) {
        return -1;
      }
      slot = slot + 1 & mask;
    }
    return slot;
  }

  int rank(int slot) {
    return ranks[slot];
  }

  int merged(int slot) {
    return merged[slot];
  }

  private static long key(int left, int right) {
    return (long) left << 32 | right;
  }

  private int start(long key) {
    return (int) (key * 0x9E3779B97F4A7C15L >>> 33) & mask;
  }
}
