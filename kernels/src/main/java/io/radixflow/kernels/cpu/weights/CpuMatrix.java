package io.radixflow.kernels.cpu.weights;

import io.radixflow.kernels.cpu.kernel.Floats;

/**
 * A weight matrix on the CPU.
 *
 * @param bias the initial value of each output, padded to whole panels; null for zero
 */
public record CpuMatrix(Panels panels, Floats bias) {}
