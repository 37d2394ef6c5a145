package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * The rows of a weight matrix in panels of {@value Kernels#PANEL} interleaved rows, in some
 * encoding. The last panel is padded with zero rows. A weight has the same bits as {@link
 * io.radixflow.models.Tensor#dequantize} gives. Only the sign of a zero may differ, which cannot
 * change a sum of products. Immutable.
 */
public interface Panels {

  /** Columns that are unpacked at once. */
  int DEPTH = 256;

  /** The largest number of scales and minima of {@value #DEPTH} columns of a panel. */
  int SCALES = DEPTH / 16 * 2 * PANEL;

  /** Rows of the matrix, without padding. */
  int rows();

  /** Columns of the matrix. */
  int columns();

  /** Bytes in memory. */
  long bytes();

  /** Number of panels. */
  default int count() {
    return (rows() + PANEL - 1) / PANEL;
  }

  /** Returns whether all weights are codes with scales, so that products are exact in integers. */
  default boolean hasIntegers() {
    return false;
  }

  /**
   * Unpacks part of a panel: weight (k, row) goes to {@code out[(k - from) * PANEL + row]}.
   *
   * @param from the first k, a multiple of {@value #DEPTH}
   * @param to the k after the last: {@code from + DEPTH} or the end of the panel
   * @param scales scratch of {@value #SCALES} floats
   */
  void unpack(Kernels kernels, int panel, int from, int to, Floats out, float[] scales);

  /**
   * Adds the product of one panel and {@code x}, {@value Kernels#PANEL} floats, to {@code
   * out[offset ..]}.
   *
   * @param scratch {@value #DEPTH} times {@value Kernels#PANEL} floats
   * @param scales scratch of {@value #SCALES} floats
   */
  default void timesVector(
      Kernels kernels,
      int panel,
      Floats x,
      Floats out,
      int offset,
      Floats scratch,
      float[] scales) {
    for (int from = 0; from < columns(); from += DEPTH) {
      int to = Math.min(columns(), from + DEPTH);
      unpack(kernels, panel, from, to, scratch, scales);
      kernels.tile(1, x, from, scratch, 0, to - from, out, offset, PANEL);
    }
  }

  /** The largest number of rows for {@link #timesRows}; 0 if these kernels do not support it. */
  default int fewRows(Kernels kernels) {
    return 0;
  }

  /**
   * Adds the product of one panel and some rows to {@code out}. The sums are the same as in {@link
   * #timesVector}.
   *
   * @param x element (row, k) at {@code row * xs + k}
   * @param out element (row, lane) at {@code offset + row * os + lane}
   */
  default void timesRows(
      Kernels kernels, int panel, Floats x, int xs, int rows, Floats out, int offset, int os) {
    throw new UnsupportedOperationException();
  }

  /** Copies one row of weights. */
  void row(int row, Floats out, int offset);
}
