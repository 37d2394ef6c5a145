package io.radixflow.kernels.cpu;

/**
 * A weight matrix on the CPU.
 *
 * @param bias what each output's chain begins with, filled up to whole panels; null for zero
 */
record CpuMatrix(Panels panels, float[] bias) {}
