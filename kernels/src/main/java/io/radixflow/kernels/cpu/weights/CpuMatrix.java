package io.radixflow.kernels.cpu.weights;

/**
 * A weight matrix on the CPU.
 *
 * @param bias the initial value of each output, padded to whole panels; null for zero
 */
public record CpuMatrix(Panels panels, float[] bias) {}
