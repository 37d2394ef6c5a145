package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import java.nio.ByteBuffer;

/** Reads the rows of a panel in order. Rows that are consecutive in the file are read together. */
final class PanelRows {

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  /** Rows that were read together. They belong to consecutive lanes. */
  private ByteBuffer run = EMPTY;

  private int runLane;

  /** The first lane that is not in the current run. */
  private int runEnd;

  /**
   * Returns a buffer whose position is at the bytes of a row. The caller must ask for the lanes of
   * a panel in order. The bytes stay valid until the next panel.
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

  /** Skips a row that was read in another way. */
  void skip(int lane) {
    runEnd = lane + 1;
  }
}
