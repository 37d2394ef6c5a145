/**
 * The CUDA driver through JCuda: context, streams, events, graphs, memory, modules and launches.
 * The result of every call is checked. A call that fails throws {@link
 * io.radixflow.kernels.cuda.driver.CudaException}.
 */
package io.radixflow.kernels.cuda.driver;
