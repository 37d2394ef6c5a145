package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.FeedForward.Dense;

/** Combines gate and up projection with the kernel of their shape. */
final class Gate {
  private Gate() {}

  /**
   * Combines the projections of one row.
   *
   * @param from where its gate projection begins; the up projection follows
   * @param to where the result begins
   */
  static void apply(Kernels kernels, Dense shape, float[] gateUp, int from, float[] out, int to) {
    int n = shape.width();
    switch (shape.gating()) {
      case SILU -> kernels.swiglu(gateUp, from, gateUp, from + n, out, to, n);
      case GELU_TANH -> kernels.geglu(gateUp, from, gateUp, from + n, out, to, n);
      case GELU -> kernels.normalGlu(gateUp, from, gateUp, from + n, out, to, n);
      case CLAMPED_SILU ->
          kernels.clampedSwiglu(gateUp, from, gateUp, from + n, shape.limit(), out, to, n);
    }
  }
}
