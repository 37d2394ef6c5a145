package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Assumptions;

/**
 * The instruction sets that native kernels are tested in. Where there are none, tests of them are
 * skipped, or fail where {@code RADIXFLOW_REQUIRE_NATIVE} is {@code true}.
 */
public final class NativeIsas {

  private NativeIsas() {}

  /** Those of this machine, at least one. */
  public static Set<NativeKernels.Isa> required() {
    if (NativeKernels.fastest().isEmpty()) {
      String hint = "no native kernels: " + NativeKernels.description();
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_NATIVE"))).as(hint).isFalse();
      Assumptions.abort(hint);
    }
    return NativeKernels.supported();
  }

  /** Products in one instruction set, which this machine may lack. */
  public static NativeKernels products(NativeKernels.Isa isa) {
    Assumptions.assumeTrue(required().contains(isa), "this machine lacks " + isa);
    return new NativeKernels(isa);
  }
}
