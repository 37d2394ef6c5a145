package io.radixflow.operators.engine.schedule;

import io.radixflow.operators.engine.SchedulerOptions;
import java.util.function.IntToDoubleFunction;

/**
 * How many rows of prompts may share a step with decodes, by what steps were measured to take, so
 * that running replies do not falter while a long prompt comes in.
 *
 * <p>Two things are known as exponential averages: the time of a prompt's row in a step without
 * decodes; and how much longer a step of decodes takes with {@code p} rows of prompts, for each
 * power of two of {@code p}, as few rows may cost a device about as much as many. In between it is
 * interpolated, and a size that was not measured is taken to cost what a row does without decodes.
 * A sample moves an average by a bounded factor, so that a step that was held up once does not
 * count for much. Engine thread only.
 */
final class PromptShare {
  /** Tokens this far apart do not look uneven, whatever a step of decodes alone takes. */
  static final long UNNOTICED_NANOS = 5_000_000;

  /** A prompt goes on by so many rows at least. */
  static final int LEAST_ROWS = 4;

  private static final int MOST_ROWS = 1 << 16;
  private static final double WEIGHT = 1.0 / 8;

  /** A sample counts as at most so many times the average, and at least that part of it. */
  private static final double BOUND = 4;

  private final double stretch;
  private final double slowdown;
  private final IntToDoubleFunction decodeNanos;
  private final double[] chunkNanos = new double[Integer.SIZE];
  private double rowNanos;

  /**
   * @param decodeNanos the time of a step of so many rows of decodes; 0 if it is not known
   */
  PromptShare(SchedulerOptions.Sharing sharing, IntToDoubleFunction decodeNanos) {
    this.stretch = sharing.stretch();
    this.slowdown = sharing.slowdown();
    this.decodeNanos = decodeNanos;
  }

  /**
   * Takes the time of a step with prompts.
   *
   * @param decodes its rows of decodes
   * @param prefillRows its rows of prompts
   */
  void measured(int decodes, int prefillRows, long nanos) {
    if (decodes == 0) {
      rowNanos = average(rowNanos, (double) nanos / prefillRows);
      return;
    }
    double alone = decodeNanos.applyAsDouble(decodes);
    if (rowNanos > 0 && alone > 0) {
      int near = bucket(prefillRows + prefillRows / 2);
      double more = Math.max(0, nanos - alone);
      chunkNanos[near] = average(chunkNanos(near), more * (1L << near) / prefillRows);
    }
  }

  private static double average(double before, double sample) {
    if (before == 0) {
      return sample;
    }
    double bounded = Math.max(before / BOUND, Math.min(before * BOUND, sample));
    return before + WEIGHT * (bounded - before);
  }

  /** Returns the most rows of prompts that a step should have beside so many of decodes. */
  int rows(int decodes) {
    double alone = decodes == 0 ? 0 : decodeNanos.applyAsDouble(decodes);
    if (stretch == 0 || alone == 0 || rowNanos == 0) {
      return Integer.MAX_VALUE;
    }
    int rows = rowsWithin(Math.max(UNNOTICED_NANOS, stretch * alone) - alone);
    double most = slowdown == 0 ? Double.POSITIVE_INFINITY : slowdown * rowNanos;
    while (rows < MOST_ROWS && alone + nanos(rows) > most * rows) {
      rows += Math.max(1, rows / 8);
    }
    return rows;
  }

  private int rowsWithin(double time) {
    int size = bucket(MOST_ROWS);
    while (chunkNanos(size) > time && 1 << size > LEAST_ROWS) {
      size--;
    }
    double more = (time - chunkNanos(size)) / Math.max(1, chunkNanos(size + 1) - chunkNanos(size));
    return (int) ((1 << size) * (1 + Math.max(0, Math.min(1, more))));
  }

  /** Returns how much longer a step takes with so many rows of prompts. */
  private double nanos(int rows) {
    int size = bucket(rows);
    double part = (double) rows / (1 << size) - 1;
    return chunkNanos(size) + part * Math.max(0, chunkNanos(size + 1) - chunkNanos(size));
  }

  private double chunkNanos(int size) {
    return chunkNanos[size] > 0 ? chunkNanos[size] : rowNanos * (1L << size);
  }

  private static int bucket(int count) {
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(count);
  }
}
