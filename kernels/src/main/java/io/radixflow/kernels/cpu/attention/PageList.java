package io.radixflow.kernels.cpu.attention;

import java.util.Arrays;

/**
 * The positions of pages, for native code: for each page, its array and the index of its first
 * element in that array. The list is the same for all heads and for all layers of one kind, so it
 * is kept until {@link #clear}.
 *
 * <p>Owned by one worker. Needs the library of native kernels.
 */
final class PageList {

  /**
   * Number of ints before the ints of the pages: type of the elements, elements per token, offset
   * in a page, number of arrays, number of pages.
   */
  private static final int HEAD = 5;

  private final int most = mostPages();

  /** Arrays of the pool. The list refers to them by index. */
  final Object[] arrays = new Object[mostArrays()];

  private int arrayCount;

  /**
   * The head, then two ints per page: the index of its array in {@link #arrays}, and the index of
   * its first element in that array.
   */
  final int[] list = new int[HEAD + 2 * most];

  private final int[] numbers = new int[arrays.length];

  /** Index in {@link #arrays} of each array of the slabs; -1 if it is not in the list yet. */
  private int[] places = new int[0];

  /** The page table of the current list; null if there is no list. */
  private int[] table;

  private KvSlabs slabs;
  private int firstPage;
  private int from;
  private int to;

  /** Returns the largest number of arrays that native code accepts. */
  private static native int mostArrays();

  /** Returns the largest number of pages that native code accepts. */
  private static native int mostPages();

  /**
   * Lists pages from {@code from} on, up to {@code to} or until the list is full.
   *
   * @param values whether to list the pages' values instead of their keys
   * @return the page after the last listed page
   */
  int take(HeadQueries q, int from, int to, boolean values) {
    KvSlabs slabs = q.pool.slabs(q.layer);
    if (table != q.table
        || this.slabs != slabs
        || firstPage != q.firstPage
        || this.from != from
        || this.to != to) {
      find(q, slabs, from, to);
    }
    list[0] = q.pool.type().ordinal();
    list[1] = values ? q.valueDim : q.keyDim;
    list[2] = values ? q.pool.valuesOffset(q.layer, q.kvHead) : q.pool.offset(q.layer, q.kvHead);
    list[3] = arrayCount;
    return from + list[4];
  }

  private void find(HeadQueries q, KvSlabs slabs, int from, int to) {
    clear();
    if (places.length < slabs.arrays()) {
      places = new int[slabs.arrays()];
      Arrays.fill(places, -1);
    }
    int page = from;
    for (int at = HEAD; page < to && page - from < most; page++, at += 2) {
      int unit = q.pool.unit(q.table[q.firstPage + page], q.layer);
      int number = slabs.number(unit);
      if (places[number] < 0) {
        if (arrayCount == arrays.length) {
          break;
        }
        places[number] = arrayCount;
        numbers[arrayCount] = number;
        arrays[arrayCount++] = slabs.array(number);
      }
      list[at] = places[number];
      list[at + 1] = slabs.offset(unit);
    }
    list[4] = page - from;
    table = q.table;
    this.slabs = slabs;
    firstPage = q.firstPage;
    this.from = from;
    this.to = to;
  }

  /** Discards the list, before a page table or the pool changes. */
  void clear() {
    table = null;
    slabs = null;
    for (int i = 0; i < arrayCount; i++) {
      places[numbers[i]] = -1;
      arrays[i] = null;
    }
    arrayCount = 0;
  }
}
