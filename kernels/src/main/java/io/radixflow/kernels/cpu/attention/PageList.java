package io.radixflow.kernels.cpu.attention;

import java.util.Arrays;

/** Where pages begin, for native code: in which arrays, and at which elements of these. */
final class PageList {

  /** Arrays and pages of one list, at most: the limits of jni.c. */
  private static final int ARRAYS = 64;

  private static final int PAGES = 2048;

  final Object[] arrays = new Object[ARRAYS];
  int arrayCount;

  /** For each page the number of its array, and of its first element there. */
  final int[] where = new int[2 * PAGES];

  int count;

  private final int[] numbers = new int[ARRAYS];

  /** Which of {@link #arrays} has the units of an array of the slabs; -1 for none yet. */
  private int[] places = new int[0];

  /**
   * Takes pages from {@code from} on, as many as there is room for.
   *
   * @param values whether their values, instead of keys
   * @return the page after the last that was taken
   */
  int take(HeadQueries q, int from, int to, boolean values) {
    clear();
    KvSlabs slabs = q.pool.slabs(q.layer);
    if (places.length < slabs.arrays()) {
      places = new int[slabs.arrays()];
      Arrays.fill(places, -1);
    }
    int page = from;
    for (; page < to && count < PAGES; page++) {
      int unit = q.pool.unit(q.table[q.firstPage + page], q.layer);
      int number = slabs.number(unit);
      if (places[number] < 0) {
        if (arrayCount == ARRAYS) {
          break;
        }
        places[number] = arrayCount;
        numbers[arrayCount] = number;
        arrays[arrayCount++] = slabs.array(number);
      }
      where[2 * count] = places[number];
      where[2 * count + 1] =
          values
              ? q.pool.values(slabs, unit, q.layer, q.kvHead)
              : q.pool.offset(slabs, unit, q.layer, q.kvHead);
      count++;
    }
    return page;
  }

  /** Drops references to the pool's arrays. */
  void clear() {
    for (int i = 0; i < arrayCount; i++) {
      places[numbers[i]] = -1;
      arrays[i] = null;
    }
    arrayCount = 0;
    count = 0;
  }
}
