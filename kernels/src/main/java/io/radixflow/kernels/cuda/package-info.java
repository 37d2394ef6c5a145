/**
 * The CUDA device through JCuda: driver, memory, kernels.
 *
 * <p>{@link CudaDriver} loads the driver and says which devices there are; a {@link CudaContext} of
 * one of them gives memory, streams and the {@link KernelModule} with the project's kernels. A
 * {@link KernelLaunch} keeps a kernel's parameters between launches.
 */
package io.radixflow.kernels.cuda;
