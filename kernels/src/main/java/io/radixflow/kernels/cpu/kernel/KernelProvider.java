package io.radixflow.kernels.cpu.kernel;

import java.util.Optional;

/**
 * Chooses the fastest kernels that this JVM can run, once: native code, or else plain Java.
 *
 * <p>The system property {@value #PROPERTY} names an instruction set to use, such as {@code avx2}.
 * With {@code scalar}, or a set that this machine lacks, plain Java computes.
 */
public final class KernelProvider {

  static final String PROPERTY = "radixflow.cpu.provider";

  private static final Optional<NativeKernels> NATIVE = chooseNative();
  private static final Kernels BEST = of(NATIVE.orElse(null));

  private KernelProvider() {}

  /** The kernels of this process. */
  public static Kernels best() {
    return BEST;
  }

  /** The kernels with native code, or in plain Java if {@code fast} is null. */
  public static Kernels of(NativeKernels fast) {
    return fast == null ? new ScalarKernels() : new CompiledKernels(fast);
  }

  /** The native kernels of this process; empty if there are none or plain Java is forced. */
  public static Optional<NativeKernels> nativeKernels() {
    return NATIVE;
  }

  private static Optional<NativeKernels> chooseNative() {
    return NativeKernels.named(System.getProperty(PROPERTY, ""));
  }
}
