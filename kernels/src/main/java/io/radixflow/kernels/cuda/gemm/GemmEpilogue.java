package io.radixflow.kernels.cuda.gemm;

import io.radixflow.models.FeedForward;

/**
 * What a product kernel does with each sum before it stores the result. See {@code GemmEpilogue} in
 * gemm.cuh.
 */
public enum GemmEpilogue {
  /** Rounds the sum to bf16. */
  PLAIN,
  /** Adds an f32 bias per feature. */
  BIAS,
  /**
   * Multiplies the sum by the scale and adds an element of a bf16 matrix with the shape of the
   * result. That matrix may be the result itself.
   */
  RESIDUAL,
  /**
   * silu(gate) · up. The result is half as wide as the product. The weights alternate between 8
   * rows of gate and 8 rows of up. There may be a bias, as in the other epilogues with a gate.
   */
  SWIGLU,
  /**
   * Multiplies the sum by the scale and, if the bound is not 0, limits it to the bound with tanh.
   * Stores f32.
   */
  LOGITS,
  /** gelu(gate) · up, with the tanh approximation of gelu. */
  GEGLU,
  /** gate · sigmoid(1.702 gate) · (up + 1), with gate and up limited to the bound. */
  CLAMPED_SWIGLU,
  /** gelu(gate) · up, with the exact gelu. */
  NORMAL_GLU;

  /** Returns the epilogue for a kind of gating. */
  public static GemmEpilogue of(FeedForward.Gating gating) {
    return switch (gating) {
      case SILU -> SWIGLU;
      case GELU_TANH -> GEGLU;
      case GELU -> NORMAL_GLU;
      case CLAMPED_SILU -> CLAMPED_SWIGLU;
    };
  }

  /** Returns whether the epilogue combines a gate and an up projection into one feature. */
  boolean gates() {
    return this == SWIGLU || this == GEGLU || this == CLAMPED_SWIGLU || this == NORMAL_GLU;
  }

  /** The number of the epilogue as a parameter of the kernel. */
  int code() {
    return ordinal();
  }
}
