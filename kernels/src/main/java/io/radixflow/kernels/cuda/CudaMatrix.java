package io.radixflow.kernels.cuda;

/**
 * A weight matrix on the device: bf16, row-major.
 *
 * @param weights {@code rows × columns} elements
 * @param bias a float a row, or null
 * @param rows outputs
 * @param columns inputs
 * @param gated whether gate and up projection take turns, as {@link RowOrder#interleaved} says
 */
record CudaMatrix(DeviceMemory weights, DeviceMemory bias, int rows, int columns, boolean gated) {}
