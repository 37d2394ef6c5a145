package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * The rows of a weight matrix in panels of {@value Kernels#PANEL} interleaved rows, in some
 * encoding; the last panel is filled with zero rows. A weight has the value that {@link
 * io.radixflow.models.Tensor#dequantize} gives, bit for bit but for the sign of a zero, which no
 * sum of products shows. Immutable.
 */
public interface Panels {

  /** Columns that are unpacked at once. */
  int DEPTH = 256;

  /** Most scales and minima of {@value #DEPTH} columns of a panel. */
  int SCALES = DEPTH / 16 * 2 * PANEL;

  /** Rows of the matrix, without the filling. */
  int rows();

  /** Columns of the matrix. */
  int columns();

  /** Bytes of memory. */
  long bytes();

  /** Number of panels. */
  default int count() {
    return (rows() + PANEL - 1) / PANEL;
  }

  /** Whether weights are {@link BlockPanels}, all of them: products are then exact in integers. */
  default boolean hasIntegers() {
    return false;
  }

  /**
   * Unpacks part of a panel: weight (k, row) goes to {@code out[(k - from) * PANEL + row]}.
   *
   * @param from first k, a multiple of {@value #DEPTH}
   * @param to after the last k: {@code from + DEPTH} or the end of the panel
   * @param scales scratch of {@value #SCALES} floats
   */
  void unpack(Kernels kernels, int panel, int from, int to, float[] out, float[] scales);

  /**
   * Adds one panel times {@code x} to {@code out[offset ..]}, {@value Kernels#PANEL} floats.
   *
   * @param scratch {@value #DEPTH} times {@value Kernels#PANEL} floats
   * @param scales scratch of {@value #SCALES} floats
   */
  default void timesVector(
      Kernels kernels,
      int panel,
      float[] x,
      float[] out,
      int offset,
      float[] scratch,
      float[] scales) {
    for (int from = 0; from < columns(); from += DEPTH) {
      int to = Math.min(columns(), from + DEPTH);
      unpack(kernels, panel, from, to, scratch, scales);
      kernels.tile(1, x, from, scratch, 0, to - from, out, offset, PANEL);
    }
  }

  /** Most rows of {@link #timesRows}; 0 where these kernels have nothing for that. */
  default int fewRows(Kernels kernels) {
    return 0;
  }

  /**
   * Adds one panel times some rows to {@code out}, with the sums of {@link #timesVector}.
   *
   * @param x element (row, k) at {@code row * xs + k}
   * @param out element (row, lane) at {@code offset + row * os + lane}
   */
  default void timesRows(
      Kernels kernels, int panel, float[] x, int xs, int rows, float[] out, int offset, int os) {
    throw new UnsupportedOperationException();
  }

  /** Copies one row of weights. */
  void row(int row, float[] out, int offset);
}
