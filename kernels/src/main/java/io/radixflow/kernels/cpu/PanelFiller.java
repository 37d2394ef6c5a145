package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.NativeRepacking;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import java.nio.ByteBuffer;

/**
 * Writes rows into panels, which interleave their rows. It uses native code if there is any for the
 * type, and rejects weights that are not finite.
 *
 * <p>Each worker has its own instance, with its own buffers.
 */
final class PanelFiller {

  private final NativeRepacking fast;

  /** Input of the native code; kept until the load ends. */
  private ByteBuffer direct;

  private final JavaRepacking java = new JavaRepacking();

  /**
   * @param fast native code, or null to use only Java
   */
  PanelFiller(NativeRepacking fast) {
    this.fast = fast;
  }

  /** A native function that moves rows into a panel. Returns whether all scales are finite. */
  @FunctionalInterface
  private interface Move {
    boolean rows(ByteBuffer rows, int number, int lane, int count);
  }

  /** Moves a panel with native code. Returns false if native code cannot move rows of this size. */
  private boolean isMoved(StackedRows source, int panel, Move move) {
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes && fast != null; lane++) {
      if (source.bytes(panel * PANEL + lane) > StackedRows.RUN_BYTES) {
        return false;
      }
    }
    for (int lane = 0; lane < lanes && fast != null; ) {
      int number = panel * PANEL + lane;
      if (direct == null) {
        direct = ByteBuffer.allocateDirect(StackedRows.RUN_BYTES);
      }
      ByteBuffer rows = source.run(number, lanes - lane, direct);
      int count = rows.limit() / source.bytes(number);
      if (!move.rows(rows, number, lane, count)) {
        throw FiniteRows.error(source, number, count);
      }
      lane += count;
    }
    return fast != null;
  }

  /** Fills a panel of codes and their scales. */
  void codes(StackedRows source, int panel, BlockPanels target) {
    BlockScales scales = target.scales();
    boolean factors = scales.form() == BlockScales.Form.FACTOR;
    boolean moved =
        isMoved(
            source,
            panel,
            (rows, number, lane, count) ->
                fast.codes(
                    source.type(number),
                    target.form(),
                    rows,
                    target.columns(),
                    count,
                    target.codes(),
                    target.codesAt(panel, 0) + lane,
                    scales.values(),
                    scales.at(panel, 0) + lane,
                    scales.parts(),
                    factors ? scales.halves() : null,
                    factors ? scales.unitsAt(panel, 0) + lane : 0));
    if (!moved) {
      java.codes(source, panel, target);
    }
  }

  /** Fills a panel of 8-bit floats, {@code byte[k][PANEL]}, with {@code float[block][PANEL]}. */
  void float8(StackedRows source, int panel, byte[] target, float[] scales) {
    int columns = source.columns();
    int codesAt = panel * columns * PANEL;
    int scalesAt = codesAt / Float8Panels.BLOCK;
    boolean moved =
        isMoved(
            source,
            panel,
            (rows, number, lane, count) ->
                fast.float8(rows, columns, count, target, codesAt + lane, scales, scalesAt + lane));
    if (!moved) {
      java.float8(source, panel, target, scales);
    }
  }

  /** Fills a panel of {@code short[k][PANEL]} with floats of 16 bits. */
  void halves(StackedRows source, int panel, boolean bfloat16, short[] target) {
    int columns = source.columns();
    boolean moved =
        isMoved(
            source,
            panel,
            (rows, number, lane, count) ->
                fast.halves(
                    bfloat16, rows, columns, count, target, panel * columns * PANEL + lane));
    if (!moved) {
      java.halves(source, panel, bfloat16, target);
    }
  }

  /** Fills a panel of {@code float[k][PANEL]}. */
  void floats(StackedRows source, int panel, float[] target) {
    java.floats(source, panel, target);
  }
}
