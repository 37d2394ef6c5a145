package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.DeviceMemory;

/**
 * A weight matrix on the device, row-major.
 *
 * @param format the form of its weights
 * @param weights {@code rows × columns} elements in that form
 * @param bias a float a row, or null
 * @param rows outputs
 * @param columns inputs
 * @param gated whether gate and up projection take turns, as {@link WeightRowOrder#interleaved}
 *     says
 * @param below the rows that follow in another form, where tensors of several are stacked; or null
 */
public record CudaMatrix(
    WeightFormat format,
    DeviceMemory weights,
    DeviceMemory bias,
    int rows,
    int columns,
    boolean gated,
    CudaMatrix below) {

  /** A matrix of bf16 without a bias. */
  public static CudaMatrix ofBf16(DeviceMemory weights, int rows, int columns) {
    return new CudaMatrix(WeightFormat.BF16, weights, null, rows, columns, false, null);
  }

  /** Outputs of this and all below. */
  public int allRows() {
    return rows + (below == null ? 0 : below.allRows());
  }
}
