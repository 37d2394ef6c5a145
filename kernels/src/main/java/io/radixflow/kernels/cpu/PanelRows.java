package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import java.nio.ByteBuffer;

/** Reads the rows of a panel, in order, several at once where a file has them together. */
final class PanelRows {

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  /** Rows that were read together, for consecutive lanes. */
  private ByteBuffer run = EMPTY;

  private int runLane;

  /** The lane whose row begins another run. */
  private int runEnd;

  /**
   * Returns a buffer whose position is at the bytes of a row. The caller asks for the lanes of a
   * panel in order. The bytes stay valid until the next panel.
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
