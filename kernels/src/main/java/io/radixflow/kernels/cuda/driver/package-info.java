/**
 * The CUDA driver through JCuda: context, streams, events, graphs, memory, modules and launches.
 * Every call is checked; a failed one throws {@link
 * io.radixflow.kernels.cuda.driver.CudaException}.
 */
package io.radixflow.kernels.cuda.driver;
