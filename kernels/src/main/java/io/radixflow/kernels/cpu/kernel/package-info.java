/**
 * The inner loops of the CPU backend, in scalar code and with the Vector API. Both give the same
 * bits. {@code KernelProvider} chooses the kernels.
 */
package io.radixflow.kernels.cpu.kernel;
