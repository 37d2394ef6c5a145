package io.radixflow.kernels.cpu.integer;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.StackedPanels;

/**
 * Products of {@link IntegerRows} with {@link BlockPanels}. Codes of weights are also integers, so
 * the sum of a block's products is exact for every order and every instruction set. An output
 * begins with the bias; for each scale of the weights, in order of columns, follow
 *
 * <pre>
 *   y = fma(scale * rowScale, float(sum of products), y)
 *   y = fma(minimum, rowScale * float(sum of the row's integers), y)    where there are minima
 * </pre>
 *
 * <p>The products are as exact as with 16-bit activations and float sums; all implementations give
 * the same bits.
 */
public abstract class IntegerProducts {

  /**
   * The products of this machine.
   *
   * @param fast native code, or null for Java
   * @param workers how many threads multiply at once
   */
  public static IntegerProducts of(NativeKernels fast, Kernels kernels, int tileRows, int workers) {
    return fast != null
        ? new NativeIntegerProducts(fast)
        : new JavaIntegerProducts(kernels, tileRows, workers);
  }

  /**
   * Rounds a row of floats from {@code in[from]}. Safe for many threads, each with rows of its own.
   */
  public abstract void pack(float[] in, int from, IntegerRows rows, int row);

  /**
   * Multiplies rows with some panels of a matrix; element (row i, panel, lane) goes to {@code
   * out[at + i * stride + (panel - first) * PANEL + lane]}.
   *
   * @param matrix one whose panels have integers
   * @param end after the last panel
   * @param numbers the numbers of the rows, from {@code number}
   * @param count how many rows
   * @param worker the thread: no two calls at once have the same
   */
  public final void multiply(
      CpuMatrix matrix,
      int first,
      int end,
      IntegerRows rows,
      int[] numbers,
      int number,
      int count,
      float[] out,
      int at,
      int stride,
      int worker) {
    if (matrix.panels() instanceof BlockPanels panels) {
      multiply(
          panels,
          matrix.bias(),
          0,
          first,
          end,
          rows,
          numbers,
          number,
          count,
          out,
          at,
          stride,
          worker);
      return;
    }
    StackedPanels stacked = (StackedPanels) matrix.panels();
    int above = 0;
    for (int i = 0; i < stacked.parts(); i++) {
      BlockPanels part = (BlockPanels) stacked.part(i);
      int from = Math.max(first, above) - above;
      int to = Math.min(end, above + part.count()) - above;
      if (from < to) {
        int partAt = at + (from + above - first) * PANEL;
        multiply(
            part,
            matrix.bias(),
            above,
            from,
            to,
            rows,
            numbers,
            number,
            count,
            out,
            partAt,
            stride,
            worker);
      }
      above += part.count();
    }
  }

  /**
   * Multiplies with panels of one encoding.
   *
   * @param bias the bias of the whole matrix, or null
   * @param above panels of the matrix that come before {@code panels}
   */
  abstract void multiply(
      BlockPanels panels,
      float[] bias,
      int above,
      int first,
      int end,
      IntegerRows rows,
      int[] numbers,
      int number,
      int count,
      float[] out,
      int at,
      int stride,
      int worker);
}
