/**
 * The inner loops of the CPU backend, in native code and in plain Java. Both give the same bits.
 * {@code KernelProvider} chooses the kernels.
 */
package io.radixflow.kernels.cpu.kernel;
