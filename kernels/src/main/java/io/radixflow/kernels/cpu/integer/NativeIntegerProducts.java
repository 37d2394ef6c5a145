package io.radixflow.kernels.cpu.integer;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.Floats;
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
  public void pack(Floats in, int from, IntegerRows rows, int row) {
    int columns = rows.columns();
    int first = row * columns;
    products.pack(
        in.address(from, columns),
        columns,
        rows.pairs.address(first / 2, columns / 2),
        rows.scales.address(first / CodeForm.BLOCK, columns / CodeForm.BLOCK),
        rows.sums.address(first / 16, columns / 16));
  }

  @Override
  void multiply(
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
      int worker) {
    Objects.checkFromIndexSize(number, count, numbers.length);
    if (panels.columns() != rows.columns()) {
      throw new IllegalArgumentException(
          "rows of " + rows.columns() + " columns times a matrix of " + panels.columns());
    }
    ((NativePanels) panels)
        .multiply(
            products.isaNumber(),
            bias == null ? 0 : bias.address((above + first) * PANEL, (end - first) * PANEL),
            first,
            end,
            rows.pairs.address(0, 0),
            rows.scales.address(0, 0),
            rows.sums.address(0, 0),
            numbers,
            number,
            count,
            out.address(at, (count - 1) * stride + (end - first) * PANEL),
            stride);
  }
}
