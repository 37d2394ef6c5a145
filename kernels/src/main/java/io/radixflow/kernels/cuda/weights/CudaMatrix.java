package io.radixflow.kernels.cuda.weights;

import io.radixflow.kernels.cuda.driver.DeviceMemory;

/**
 * A weight matrix on the device: bf16, row-major.
 *
 * @param weights {@code rows × columns} elements
 * @param bias a float a row, or null
 * @param rows outputs
 * @param columns inputs
 * @param gated whether gate and up projection take turns, as {@link WeightRowOrder#interleaved}
 *     says
 */
public record CudaMatrix(
    DeviceMemory weights, DeviceMemory bias, int rows, int columns, boolean gated) {}
