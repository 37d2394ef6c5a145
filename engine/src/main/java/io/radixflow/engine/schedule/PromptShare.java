package io.radixflow.engine.schedule;

import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.tier.loadback.LinearFit;
import java.util.function.IntToDoubleFunction;

/**
 * Decides how many rows of prompts may share a step with decodes, so that running replies do not
 * stall while a long prompt is computed. It uses measured times of steps.
 *
 * <p>Two things are measured. The first is the time of a prompt's row in a step without decodes. It
 * is modelled as a line over the row's position, because attention reads everything before it. The
 * second is how much longer a step of decodes takes with {@code p} rows of prompts, as a multiple
 * of the time of such rows. It is an exponential average for each power of two of {@code p},
 * because few rows may cost a device about as much as many. Sizes in between are interpolated. A
 * size that was not measured is assumed to cost as much as its rows without decodes. A sample
 * changes the estimate by a bounded factor, so that a single delayed step does not count for much.
 * Engine thread only.
 */
final class PromptShare {
  /** Readers do not notice shorter gaps between tokens. */
  static final long UNNOTICED_NANOS = 5_000_000;

  /** A prompt gets at least this many rows per step. */
  static final int LEAST_ROWS = 4;

  private static final int MOST_ROWS = 1 << 16;
  private static final double WEIGHT = 1.0 / 8;

  /**
   * A sample counts as at most this many times the estimate, and at least the estimate divided by
   * it.
   */
  private static final double BOUND = 4;

  /** Positions closer together than this say little about positions further away. */
  private static final double NEAR_POSITIONS = 32;

  private final double stretch;
  private final double slowdown;
  private final IntToDoubleFunction decodeNanos;

  /** Nanoseconds of a row in a step without decodes, by its position. */
  private final LinearFit rowNanos = new LinearFit(NEAR_POSITIONS);

  /** The same for rows in a step with decodes. Only its slope is used, for any number of rows. */
  private final LinearFit besideNanos = new LinearFit(NEAR_POSITIONS);

  /**
   * The additional time of a step with {@code 1 << i} rows, as a multiple of the time of these
   * rows; 0 if unknown.
   */
  private final double[] factors = new double[Integer.SIZE];

  /**
   * @param decodeNanos the time of a step by its number of decode rows; 0 if it is not known
   */
  PromptShare(SchedulerOptions.Sharing sharing, IntToDoubleFunction decodeNanos) {
    this.stretch = sharing.stretch();
    this.slowdown = sharing.slowdown();
    this.decodeNanos = decodeNanos;
  }

  /**
   * Records the time of a step with prompts.
   *
   * @param decodes the step's rows of decodes
   * @param prefillRows the step's rows of prompts
   * @param position the mean position of the rows of prompts
   */
  void measured(int decodes, int prefillRows, double position, long nanos) {
    double row = rowNanos(position);
    if (decodes == 0) {
      double sample = (double) nanos / prefillRows;
      rowNanos.add(position, row == 0 ? sample : bounded(row, sample), prefillRows);
      return;
    }
    double alone = decodeNanos.applyAsDouble(decodes);
    if (row > 0 && alone > 0) {
      int near = bucket(prefillRows + prefillRows / 2);
      double more = Math.max(0, nanos - alone) / prefillRows;
      besideNanos.add(position, bounded(row, more), prefillRows);
      double sample = more / row;
      double known = factor(near);
      factors[near] = known + WEIGHT * (bounded(known, sample) - known);
    }
  }

  /**
   * Returns the time of a row without decodes, even at positions where no such row was measured.
   */
  private double rowNanos(double position) {
    double steeper = Math.max(0, besideNanos.slope() - rowNanos.slope());
    return rowNanos.isEmpty() ? 0 : rowNanos.at(position) + steeper * position;
  }

  private static double bounded(double known, double sample) {
    return Math.max(known / BOUND, Math.min(known * BOUND, sample));
  }

  /**
   * Returns the most rows of prompts that a step with decodes should have.
   *
   * @param decodes rows of decodes
   * @param position the position at which the next prompt continues
   * @param prompts prompts that are not completely computed
   */
  int rows(int decodes, int position, int prompts) {
    double alone = decodes == 0 ? 0 : decodeNanos.applyAsDouble(decodes);
    double row = rowNanos(position);
    if (stretch == 0 || alone == 0 || row == 0) {
      return Integer.MAX_VALUE;
    }
    double aloneRows = alone / row;
    int rows = rowsWithin(Math.max(UNNOTICED_NANOS, stretch * alone) / row - aloneRows);
    double most = mostSlowdown(decodes, prompts);
    while (rows < MOST_ROWS && aloneRows + cost(rows) > most * rows) {
      rows += Math.max(1, rows / 8);
    }
    return rows;
  }

  /**
   * Returns the most slowdown of a prompt. Prompts wait for each other: if there are more prompts
   * than decodes, the decodes give way.
   */
  private double mostSlowdown(int decodes, int prompts) {
    if (slowdown == 0) {
      return Double.POSITIVE_INFINITY;
    }
    return 1 + (slowdown - 1) * Math.min(1, (double) decodes / Math.max(1, prompts));
  }

  private int rowsWithin(double cost) {
    int size = bucket(MOST_ROWS);
    while (sizeCost(size) > cost && 1 << size > LEAST_ROWS) {
      size--;
    }
    double more = (cost - sizeCost(size)) / Math.max(1, sizeCost(size + 1) - sizeCost(size));
    return (int) ((1 << size) * (1 + Math.max(0, Math.min(1, more))));
  }

  /** Returns the cost of {@code rows} prompt rows next to decodes, in rows without decodes. */
  private double cost(int rows) {
    int size = bucket(rows);
    double part = (double) rows / (1 << size) - 1;
    return sizeCost(size) + part * Math.max(0, sizeCost(size + 1) - sizeCost(size));
  }

  private double sizeCost(int size) {
    return (1L << size) * factor(size);
  }

  private double factor(int size) {
    return factors[size] > 0 ? factors[size] : 1;
  }

  private static int bucket(int count) {
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(count);
  }
}
