package io.radixflow.kernels.cpu.weights;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.BlockCodes;

/**
 * The scale and the minimum of each block of a matrix in panels, as narrow as they keep the values
 * that {@link BlockCodes} has, bit for bit. A minimum is stored, or the product of a scale and an
 * offset of codes.
 */
public interface Scales {

  /** Columns of a block: 16 or 32. */
  int block();

  /**
   * Writes {@code float[block][scale, minimum][PANEL]} of part of a panel.
   *
   * @param from first column, a multiple of {@link Panels#DEPTH}
   * @param to after the last column
   */
  void widen(Kernels kernels, int panel, int from, int to, float[] out);

  /** Returns the scale of a block of a row. */
  float scale(int panel, int lane, int block);

  /** Returns the minimum of a block of a row. */
  float minimum(int panel, int lane, int block);

  /** Takes over the scales of a row that was read. */
  void put(int panel, int lane, BlockCodes row);

  /** Bytes of memory. */
  long bytes();
}
