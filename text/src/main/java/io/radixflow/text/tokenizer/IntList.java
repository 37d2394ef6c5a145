package io.radixflow.text.tokenizer;

import java.util.Arrays;

/** An int array that can grow. */
final class IntList {

  private int[] values;
  private int size;

  IntList(int capacity) {
    values = new int[Math.max(8, capacity)];
  }

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size + (size >> 1));
    }
    values[size++] = value;
  }

  void addAll(int[] source, int from, int to) {
    int count = to - from;
    if (size + count > values.length) {
      values = Arrays.copyOf(values, Math.max(size + count, size + (size >> 1)));
    }
    System.arraycopy(source, from, values, size, count);
    size += count;
  }

  int[] copy(int from) {
    return Arrays.copyOfRange(values, from, size);
  }
}
