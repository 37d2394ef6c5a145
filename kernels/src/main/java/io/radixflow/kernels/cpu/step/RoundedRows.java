package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.integer.IntegerRows;
import io.radixflow.kernels.cpu.kernel.Floats;
import java.util.Arrays;

/**
 * Rows of activations that a region rounds to integers, for products with codes.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class RoundedRows implements WorkerTeam.Region {

  private static final int TASK_ROWS = 4;

  private final WorkerTeam team;
  private final IntegerProducts integers;
  private final PartTimes parts;
  private final IntegerRows rows;

  private Floats in;
  private int count;
  private int[] starts = new int[64];

  RoundedRows(WorkerTeam team, IntegerProducts integers, PartTimes parts) {
    this.team = team;
    this.integers = integers;
    this.parts = parts;
    rows = new IntegerRows(team.memory());
  }

  /** Begins a list of rows of {@code in}. */
  void begin(Floats in) {
    this.in = in;
    count = 0;
  }

  /** Adds the row that begins at index {@code start}. */
  void add(int start) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
    }
    starts[count++] = start;
  }

  /** Number of rows that were added. */
  int count() {
    return count;
  }

  /** Rounds the rows, which have {@code columns} columns each. */
  void round(int columns) {
    parts.begin();
    rows.begin(count, columns);
    team.run((count + TASK_ROWS - 1) / TASK_ROWS, this);
    parts.end(PartTimes.Part.ROUNDING);
  }

  @Override
  public void run(int task, int worker) {
    int end = Math.min(count, (task + 1) * TASK_ROWS);
    for (int row = task * TASK_ROWS; row < end; row++) {
      integers.pack(in, starts[row], rows, row);
    }
  }

  /** The integers of the rows, in the order in which rows were added. */
  IntegerRows integers() {
    return rows;
  }
}
