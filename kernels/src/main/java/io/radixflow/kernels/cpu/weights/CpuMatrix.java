package io.radixflow.kernels.cpu.weights;

/**
 * A weight matrix on the CPU.
 *
 * @param bias what each output's chain begins with, filled up to whole panels; null for zero
 */
public record CpuMatrix(Panels panels, float[] bias) {}
