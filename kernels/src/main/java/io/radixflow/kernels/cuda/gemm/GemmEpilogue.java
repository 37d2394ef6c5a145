package io.radixflow.kernels.cuda.gemm;

import io.radixflow.models.FeedForward;

/**
 * The operation of a product's kernel on each sum before it stores it; {@code GemmEpilogue} of
 * gemm.cuh.
 */
public enum GemmEpilogue {
  /** Rounds it to bf16. */
  PLAIN,
  /** Adds a bias of f32 a feature. */
  BIAS,
  /**
   * Multiplies it with the scale and adds an element of a bf16 matrix of the result's shape, which
   * may be the result.
   */
  RESIDUAL,
  /**
   * silu(gate) · up, half as wide as the product; the weights are 8 rows of gate, 8 of up, and so
   * on. There may be a bias, as with the other two that gate.
   */
  SWIGLU,
  /** Multiplies it with the scale, holds it within the bound by tanh if that is not 0, as f32. */
  LOGITS,
  /** gelu(gate) · up, with the approximation of gelu by tanh. */
  GEGLU,
  /** gate · sigmoid(1.702 gate) · (up + 1), both held within the bound. */
  CLAMPED_SWIGLU,
  /** gelu(gate) · up, with the normal distribution. */
  NORMAL_GLU;

  /** The epilogue that gates in one way. */
  public static GemmEpilogue of(FeedForward.Gating gating) {
    return switch (gating) {
      case SILU -> SWIGLU;
      case GELU_TANH -> GEGLU;
      case GELU -> NORMAL_GLU;
      case CLAMPED_SILU -> CLAMPED_SWIGLU;
    };
  }

  /** Returns whether it makes one feature of a gate's and an up projection's. */
  boolean gates() {
    return this == SWIGLU || this == GEGLU || this == CLAMPED_SWIGLU || this == NORMAL_GLU;
  }

  /** The kernel's parameter. */
  int code() {
    return ordinal();
  }
}
