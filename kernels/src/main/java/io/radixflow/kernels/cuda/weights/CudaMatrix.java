package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.DeviceMemory;

/**
 * A weight matrix on the device, row-major.
 *
 * @param format the format of the weights
 * @param weights {@code rows × columns} elements in that format
 * @param bias one float per row, or null
 * @param rows number of outputs
 * @param columns number of inputs
 * @param gated whether rows of the gate and up projections alternate; see {@link
 *     WeightRowOrder#interleaved}
 * @param below the following rows, in another format, if tensors of several formats are stacked; or
 *     null
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

  /** Number of outputs of this matrix and all matrices below it. */
  public int allRows() {
    return rows + (below == null ? 0 : below.allRows());
  }
}
