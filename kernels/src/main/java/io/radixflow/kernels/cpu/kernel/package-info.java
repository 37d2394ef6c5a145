/**
 * The inner loops of the CPU backend, scalar and with the Vector API. Both give the same bits;
 * {@code KernelProvider} chooses.
 */
package io.radixflow.kernels.cpu.kernel;
