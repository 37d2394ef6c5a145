/**
 * Products on a GPU. {@code GemmPlan} chooses a kernel; {@code GemmLaunch} and {@code
 * GroupedProduct} create its launches.
 */
package io.radixflow.kernels.cuda.gemm;
