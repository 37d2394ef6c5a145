package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import java.nio.ByteBuffer;

/** Reads the rows of a panel, in order, several at once where a file has them together. */
final class PanelRows {

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  /** Rows that were read together, those of some lanes. */
  private ByteBuffer run = EMPTY;

  private int runLane;

  /** The lane whose row begins another run. */
  private int runEnd;

  /**
   * Returns what has the bytes of a row at its position; lanes of a panel are asked for in order.
   * Only the next panel overwrites them.
   */
  ByteBuffer row(StackedRows source, int panel, int lane) {
    int number = panel * PANEL + lane;
    int each = source.bytes(number);
    if (lane == 0 || lane == runEnd) {
      run = source.run(number, source.lanes(panel) - lane, lane == 0 ? run : EMPTY);
      runLane = lane;
      runEnd = lane + run.limit() / each;
    }
    return run.position((lane - runLane) * each);
  }

  /** Goes past a row that was read in another way. */
  void skip(int lane) {
    runEnd = lane + 1;
  }
}
