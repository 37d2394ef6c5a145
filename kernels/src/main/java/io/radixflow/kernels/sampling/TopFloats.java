package io.radixflow.kernels.sampling;

/**
 * The largest values of a row with their indexes, in a bounded binary heap with the lowest-ranked
 * entry at the root. Of equal values, the one with the lower index ranks higher. Not thread safe;
 * arrays are reused.
 */
final class TopFloats {

  private final float[] values;
  private final int[] places;
  private int size;

  /**
   * @param most the largest number of values that will be asked for
   */
  TopFloats(int most) {
    values = new float[most];
    places = new int[most];
  }

  /** The {@code k}-th largest value of a row, duplicates counted. */
  float smallestOfTop(float[] row, int offset, int length, int k) {
    collect(row, offset, length, k);
    return values[0];
  }

  /**
   * Finds the {@code k} largest values; {@link #value} and {@link #place} then return them in
   * order.
   */
  void sortedTop(float[] row, int offset, int length, int k) {
    collect(row, offset, length, k);
    for (int end = size - 1; end > 0; end--) {
      float value = values[0];
      int place = places[0];
      sink(0, end, values[end], places[end]);
      values[end] = value;
      places[end] = place;
    }
  }

  /** The value with a rank; rank 0 is the largest. */
  float value(int rank) {
    return values[rank];
  }

  /** The index of the value with a rank, relative to the row's start. */
  int place(int rank) {
    return places[rank];
  }

  private void collect(float[] row, int offset, int length, int k) {
    size = k;
    for (int i = 0; i < k; i++) {
      values[i] = row[offset + i];
      places[i] = i;
    }
    for (int i = k / 2 - 1; i >= 0; i--) {
      sink(i, k, values[i], places[i]);
    }
    for (int i = k; i < length; i++) {
      // An equal value at a later index ranks lower, so it never replaces the root.
      if (row[offset + i] > values[0]) {
        sink(0, k, row[offset + i], i);
      }
    }
  }

  private void sink(int hole, int end, float value, int place) {
    int child = 2 * hole + 1;
    while (child < end) {
      if (child + 1 < end && weaker(values[child + 1], places[child + 1], child)) {
        child++;
      }
      if (!weaker(values[child], places[child], value, place)) {
        break;
      }
      values[hole] = values[child];
      places[hole] = places[child];
      hole = child;
      child = 2 * hole + 1;
    }
    values[hole] = value;
    places[hole] = place;
  }

  private boolean weaker(float value, int place, int than) {
    return weaker(value, place, values[than], places[than]);
  }

  private static boolean weaker(float value, int place, float thanValue, int thanPlace) {
    return value < thanValue || value == thanValue && place > thanPlace;
  }
}
