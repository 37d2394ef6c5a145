package io.radixflow.kernels.cpu.integer;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.NativePanels;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Objects;

/** Integer products in native code. The native code checks no bounds, so this class does. */
final class NativeIntegerProducts extends IntegerProducts {

  private final NativeKernels products;

  NativeIntegerProducts(NativeKernels products) {
    this.products = products;
  }

  @Override
  public void pack(float[] in, int from, IntegerRows rows, int row) {
    int columns = rows.columns();
    Objects.checkFromIndexSize(from, columns, in.length);
    Objects.checkFromIndexSize(row * columns / 2, columns / 2, rows.pairs.length);
    products.pack(in, from, columns, row, rows.pairs, rows.scales, rows.sums);
  }

  @Override
  void multiply(
      Panels panels,
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
      int worker) {
    Objects.checkFromIndexSize(number, count, numbers.length);
    Objects.checkFromIndexSize(at, (count - 1) * stride + (end - first) * PANEL, out.length);
    if (panels.columns() != rows.columns()) {
      throw new IllegalArgumentException(
          "rows of " + rows.columns() + " columns times a matrix of " + panels.columns());
    }
    ((NativePanels) panels)
        .multiply(
            products.isaNumber(),
            bias,
            above * PANEL,
            first,
            end,
            rows.pairs,
            rows.scales,
            rows.sums,
            numbers,
            number,
            count,
            out,
            at,
            stride);
  }
}
