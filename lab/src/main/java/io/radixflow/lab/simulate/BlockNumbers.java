package io.radixflow.lab.simulate;

import java.util.Arrays;

/**
 * Numbers prefixes in the order in which they are first seen. A prefix is identified by its
 * parent's number and the content of its last block. Uses open addressing with linear probing, at
 * most half full.
 */
final class BlockNumbers {
  private int[] parents = new int[1024];
  private long[] contents = new long[1024];
  private int[] slots = new int[2048];
  private int size;

  BlockNumbers() {
    Arrays.fill(slots, -1);
  }

  int size() {
    return size;
  }

  /**
   * Returns the number of the prefix that ends with {@code content}; {@code parent} below 0 is a
   * root.
   */
  int of(int parent, long content) {
    int mask = slots.length - 1;
    int i = hash(parent, content) & mask;
    while (slots[i] >= 0) {
      int number = slots[i];
      if (contents[number] == content && parents[number] == parent) {
        return number;
      }
      i = i + 1 & mask;
    }
    slots[i] = size;
    return add(parent, content);
  }

  private int add(int parent, long content) {
    if (size == parents.length) {
      parents = Arrays.copyOf(parents, 2 * size);
      contents = Arrays.copyOf(contents, 2 * size);
    }
    parents[size] = parent;
    contents[size] = content;
    if (++size * 2 > slots.length) {
      grow();
    }
    return size - 1;
  }

  private void grow() {
    slots = new int[2 * slots.length];
    Arrays.fill(slots, -1);
    int mask = slots.length - 1;
    for (int number = 0; number < size; number++) {
      int i = hash(parents[number], contents[number]) & mask;
      while (slots[i] >= 0) {
        i = i + 1 & mask;
      }
      slots[i] = number;
    }
  }

  /** Returns Steele and Vigna's mix of 64 bits (variant 13), so that consecutive ids spread. */
  private static int hash(int parent, long content) {
    long z = content * 0x9E37_79B9_7F4A_7C15L + parent;
    z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
    z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
    return (int) (z ^ z >>> 31);
  }
}
