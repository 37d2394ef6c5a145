package io.radixflow.kernels.cpu.integer;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;

/**
 * Products of {@link IntegerRows} with panels of codes. Codes of weights are also integers, so the
 * sum of a block's products is exact in any order and with any instruction set. An output starts
 * with the bias. Then each scale of the weights, in the order of columns, adds
 *
 * <pre>
 *   y = fma(scale * rowScale, float(sum of products), y)
 *   y = fma(minimum, rowScale * float(sum of the row's integers), y)    where there are minima
 * </pre>
 *
 * <p>All implementations give the same bits.
 */
public abstract class IntegerProducts {

  /**
   * Returns the products for this machine.
   *
   * @param fast native code, or null to use only Java
   * @param workers number of threads that multiply at the same time
   */
  public static IntegerProducts of(NativeKernels fast, Kernels kernels, int tileRows, int workers) {
    return fast != null
        ? new NativeIntegerProducts(fast)
        : new JavaIntegerProducts(kernels, tileRows, workers);
  }

  /**
   * Rounds a row of floats, from {@code in[from]} on, to integers. Safe for many threads if each
   * has its own rows.
   */
  public abstract void pack(Floats in, int from, IntegerRows rows, int row);

  /**
   * Multiplies rows with some panels of a matrix; element (row i, panel, lane) goes to {@code
   * out[at + i * stride + (panel - first) * PANEL + lane]}.
   *
   * @param matrix its panels must have integers, and be in Java's heap if the products are in Java,
   *     else outside it
   * @param end the panel after the last
   * @param numbers the numbers of the rows, from index {@code number} on
   * @param count number of rows
   * @param worker number of the calling thread; concurrent calls have different numbers
   */
  public final void multiply(
      CpuMatrix matrix,
      int first,
      int end,
      IntegerRows rows,
      int[] numbers,
      int number,
      int count,
      Floats out,
      int at,
      int stride,
      int worker) {
    if (!(matrix.panels() instanceof StackedPanels stacked)) {
      multiply(
          matrix.panels(),
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
    int above = 0;
    for (int i = 0; i < stacked.parts(); i++) {
      Panels part = stacked.part(i);
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
      Panels panels,
      Floats bias,
      int above,
      int first,
      int end,
      IntegerRows rows,
      int[] numbers,
      int number,
      int count,
      Floats out,
      int at,
      int stride,
      int worker);
}
