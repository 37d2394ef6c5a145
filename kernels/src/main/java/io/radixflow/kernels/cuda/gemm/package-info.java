/**
 * Products on a GPU: {@code GemmPlan} picks a kernel, {@code GemmLaunch} and {@code GroupedProduct}
 * make its launches.
 */
package io.radixflow.kernels.cuda.gemm;
