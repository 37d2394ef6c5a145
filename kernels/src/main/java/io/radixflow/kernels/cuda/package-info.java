/**
 * The CUDA backend. {@link io.radixflow.kernels.cuda.CudaBackend} implements the seam to the
 * engine; {@link io.radixflow.kernels.cuda.CudaSupport} says what this process can do with CUDA.
 *
 * <p>Packages below, each knowing only those after it: {@code step} plans a batch and launches its
 * kernels, {@code pages} holds and moves KV pages, {@code weights} loads a model, {@code driver}
 * wraps the driver's calls through JCuda. The kernels themselves are in {@code src/main/cuda}.
 */
package io.radixflow.kernels.cuda;
