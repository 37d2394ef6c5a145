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
 */
public record CudaMatrix(
    WeightFormat format,
    DeviceMemory weights,
    DeviceMemory bias,
    int rows,
    int columns,
    boolean gated) {

  /** A matrix of bf16 without a bias. */
  public static CudaMatrix ofBf16(DeviceMemory weights, int rows, int columns) {
    return new CudaMatrix(WeightFormat.BF16, weights, null, rows, columns, false);
  }
}
