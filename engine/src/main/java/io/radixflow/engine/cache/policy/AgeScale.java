package io.radixflow.engine.cache.policy;

import java.util.Arrays;

/**
 * Divides ages into buckets that grow with the age: single ticks at first, then {@link #PER_OCTAVE}
 * buckets for each doubling. Ages beyond the last bucket belong to the last bucket.
 */
final class AgeScale {
  /**
   * With three buckets, the usual gap between turns is in a different bucket from half or twice
   * that gap. More buckets only add noise.
   */
  private static final int PER_OCTAVE = 3;

  private static final long LONGEST = 1L << 22;

  private static final double[] STARTS = starts();

  /** The bucket of each power of two. */
  private static final int[] OF_POWER = ofPowers();

  private AgeScale() {}

  private static double[] starts() {
    double[] starts = new double[(int) (Math.log(LONGEST) / Math.log(2) * PER_OCTAVE) + 1];
    int count = 0;
    double factor = Math.pow(2, 1.0 / PER_OCTAVE);
    for (double start = 1;
        start <= LONGEST;
        start = Math.max(start + 1, Math.floor(start * factor))) {
      starts[count++] = start;
    }
    return Arrays.copyOf(starts, count);
  }

  private static int[] ofPowers() {
    int[] buckets = new int[Long.numberOfTrailingZeros(LONGEST) + 1];
    for (int power = 1; power < buckets.length; power++) {
      buckets[power] = lastBefore(1L << power, buckets[power - 1]);
    }
    return buckets;
  }

  /** Returns the last bucket that begins at or before an age; the search starts at {@code from}. */
  private static int lastBefore(long age, int from) {
    int bucket = from;
    while (bucket + 1 < STARTS.length && STARTS[bucket + 1] <= age) {
      bucket++;
    }
    return bucket;
  }

  static int buckets() {
    return STARTS.length;
  }

  /** Returns the bucket of an age in ticks; an age below 1 counts as 1. */
  static int bucket(long age) {
    long known = Math.min(LONGEST, Math.max(1, age));
    return lastBefore(known, OF_POWER[63 - Long.numberOfLeadingZeros(known)]);
  }

  static double start(int bucket) {
    return STARTS[bucket];
  }

  /** Returns the ticks from the smallest age of a bucket to the smallest age of the next bucket. */
  static double width(int bucket) {
    return bucket + 1 < STARTS.length ? STARTS[bucket + 1] - STARTS[bucket] : STARTS[bucket];
  }
}
