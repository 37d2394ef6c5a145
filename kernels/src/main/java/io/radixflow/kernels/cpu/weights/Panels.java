package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * The rows of a weight matrix in panels of {@value Kernels#PANEL} interleaved rows, in some
 * encoding; the last panel is filled with zero rows. A weight has the value that {@link
 * io.radixflow.kernels.model.Tensor#dequantize} gives, bit for bit but for the sign of a zero,
 * which no sum of products shows. Immutable.
 */
public interface Panels {

  /** Rows of the scratch that {@link #timesVector} needs, {@value Kernels#PANEL} floats each. */
  int DEPTH = 256;

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

  /**
   * Unpacks part of a panel: weight (k, row) goes to {@code out[(k - from) * PANEL + row]}.
   *
   * @param from first k, a multiple of {@value #DEPTH}
   * @param to after the last k: {@code from + DEPTH} or the end of the panel
   */
  void unpack(Kernels kernels, int panel, int from, int to, float[] out);

  /** Adds one panel times {@code x} to {@code out[offset ..]}, {@value Kernels#PANEL} floats. */
  default void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, float[] scratch) {
    for (int from = 0; from < columns(); from += DEPTH) {
      int to = Math.min(columns(), from + DEPTH);
      unpack(kernels, panel, from, to, scratch);
      kernels.tile(1, x, from, scratch, 0, to - from, out, offset, PANEL);
    }
  }

  /** Returns whether {@link #timesRows} has a kernel for this encoding. */
  default boolean hasTimesRows() {
    return false;
  }

  /**
   * Adds one panel times a few packed rows to {@code out}.
   *
   * @param rows 4 or 8
   * @param packed activations as in {@link Kernels#tile}, from 0
   * @param offset where the panel's outputs of the first row begin
   * @param stride floats from row to row of {@code out}
   */
  default void timesRows(
      Kernels kernels, int panel, int rows, float[] packed, float[] out, int offset, int stride) {
    throw new UnsupportedOperationException("no kernel for a few rows");
  }

  /** Copies one row of weights. */
  void row(int row, float[] out, int offset);
}
