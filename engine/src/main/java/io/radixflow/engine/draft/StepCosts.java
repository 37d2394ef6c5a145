package io.radixflow.engine.draft;

/**
 * The time of a step of decoding rows in nanoseconds, by its number of rows. It is the average of
 * the last steps with that number. Other numbers are interpolated, or extrapolated with the slope
 * of the last two. Engine thread only.
 */
final class StepCosts {
  /** Steps with at least this many rows are ignored. */
  static final int MOST_ROWS = 256;

  /** The assumed cost of a further row, as a part of the smallest step, until it is measured. */
  private static final double FIRST_SLOPE = 0.1;

  /** A row count that no step had for this many steps is measured again when it is used. */
  private static final long FORGOTTEN = 2000;

  /** Only the fastest of the first {@value} steps counts, because new code is slow at first. */
  private static final int FIRST = 3;

  private final double[] nanos = new double[MOST_ROWS + 1];
  private final int[] counts = new int[MOST_ROWS + 1];
  private final long[] measured = new long[MOST_ROWS + 1];
  private long steps;

  void add(int rows, long stepNanos) {
    steps++;
    if (rows < 1 || rows > MOST_ROWS) {
      return;
    }
    if (isForgotten(rows)) {
      counts[rows] = 0;
    }
    double known = nanos[rows];
    if (counts[rows] < FIRST) {
      nanos[rows] = counts[rows] == 0 ? stepNanos : Math.min(known, stepNanos);
      counts[rows]++;
    } else {
      // steps are sometimes delayed, but never too fast
      nanos[rows] = known + (stepNanos < known ? 0.2 : 0.05) * (stepNanos - known);
    }
    measured[rows] = steps;
  }

  private boolean isKnown(int rows) {
    return counts[rows] >= FIRST && !isForgotten(rows);
  }

  private boolean isForgotten(int rows) {
    return rows > 1 && steps - measured[rows] > FORGOTTEN;
  }

  /** Returns the time of a step; 0 if no step was measured. */
  double of(int rows) {
    int most = Math.min(rows, MOST_ROWS);
    int below = below(most);
    if (below == most && rows == most) {
      return nanos[most];
    }
    if (below == 0) {
      return 0;
    }
    for (int above = most + 1; above <= MOST_ROWS && above <= 2 * most; above++) {
      if (isKnown(above)) {
        double slope = Math.max(0, nanos[above] - nanos[below]) / (above - below);
        return nanos[below] + slope * (rows - below);
      }
    }
    int before = below(below - 1);
    double slope =
        before == 0
            ? FIRST_SLOPE * nanos[below] / below
            : Math.max(0, nanos[below] - nanos[before]) / (below - before);
    return nanos[below] + slope * (rows - below);
  }

  /** Returns the largest measured number of rows up to {@code rows}; 0 if there is none. */
  private int below(int rows) {
    int below = rows;
    while (below > 0 && !isKnown(below)) {
      below--;
    }
    return below;
  }
}
