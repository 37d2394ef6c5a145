package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.FeedForward.Dense;

/** Combines the gate and up projections with the kernel that their shape needs. */
final class Gate {
  private Gate() {}

  /**
   * Combines the projections of one row.
   *
   * @param from index of the gate projection; the up projection follows
   * @param to index for the result
   */
  static void apply(Kernels kernels, Dense shape, Floats gateUp, int from, Floats out, int to) {
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
