package io.radixflow.kernels.cuda.step;

/**
 * The operation of a product's kernel on each sum before it stores it; {@code GemmEpilogue} of
 * gemm.cuh.
 */
public enum GemmEpilogue {
  /** Rounds it to bf16. */
  PLAIN,
  /** Adds a bias of f32 a feature. */
  BIAS,
  /** Adds an element of a bf16 matrix of the result's shape, which may be the result. */
  RESIDUAL,
  /**
   * silu(gate) · up, half as wide as the product; the weights are 8 rows of gate, 8 of up, and so
   * on.
   */
  SWIGLU,
  /** Stores it as f32. */
  LOGITS;

  /** The kernel's parameter. */
  int code() {
    return ordinal();
  }
}
