package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.weights.NativePanels;
import io.radixflow.kernels.cpu.weights.Panels;
import java.nio.ByteBuffer;

/**
 * Writes rows into panels, which interleave their rows, and rejects weights that are not finite.
 * Native code fills native panels if it can move rows of the type and size.
 *
 * <p>Each worker has its own instance, with its own buffers.
 */
final class PanelFiller {

  /** Input of the native code; kept until the load ends. */
  private ByteBuffer direct;

  private final JavaRepacking java = new JavaRepacking();

  /** Fills a panel of the target. */
  void fill(StackedRows source, int panel, Panels target) {
    if (!(target instanceof NativePanels panels)) {
      java.fill(source, panel, target, panel);
    } else if (canMove(source, panel, panels)) {
      move(source, panel, panels);
    } else {
      Panels one = panels.form().allocate(PANEL, target.columns());
      java.fill(source, panel, one, 0);
      panels.put(panel, one);
    }
  }

  private static boolean canMove(StackedRows source, int panel, NativePanels target) {
    for (int lane = 0; lane < source.lanes(panel); lane++) {
      int number = panel * PANEL + lane;
      if (source.bytes(number) > StackedRows.RUN_BYTES || !target.takes(source.type(number))) {
        return false;
      }
    }
    return true;
  }

  private void move(StackedRows source, int panel, NativePanels target) {
    if (direct == null) {
      direct = ByteBuffer.allocateDirect(StackedRows.RUN_BYTES);
    }
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes; ) {
      int number = panel * PANEL + lane;
      ByteBuffer rows = source.run(number, lanes - lane, direct);
      int count = rows.limit() / source.bytes(number);
      if (!target.move(source.type(number), rows, panel, lane, count)) {
        throw FiniteRows.error(source, number, count);
      }
      lane += count;
    }
  }
}
