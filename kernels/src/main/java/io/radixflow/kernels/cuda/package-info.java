/**
 * The CUDA backend. {@link io.radixflow.kernels.cuda.CudaBackend} implements the interface to the
 * engine; {@link io.radixflow.kernels.cuda.CudaSupport} says what this process can do with CUDA.
 *
 * <p>Each of these packages uses only the packages after it: {@code step} plans a batch and
 * launches its kernels, {@code pages} stores and moves KV pages, {@code weights} loads a model, and
 * {@code driver} wraps the driver's calls through JCuda. The kernels themselves are in {@code
 * src/main/cuda}.
 */
package io.radixflow.kernels.cuda;
