package io.radixflow.kernels.cpu.kernel;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the fastest kernels that this JVM can run: native code, or else plain Java. It chooses
 * once, and logs why it could not choose native code.
 *
 * <p>The system property {@value #PROPERTY} forces {@code scalar}, which is plain Java.
 */
public final class KernelProvider {

  static final String PROPERTY = "radixflow.cpu.provider";

  private static final Logger LOG = LoggerFactory.getLogger(KernelProvider.class);
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

  /**
   * The native kernels of this process; empty if there are none, if they are not allowed, or if
   * plain Java is forced.
   */
  public static Optional<NativeKernels> nativeKernels() {
    return NATIVE;
  }

  /**
   * The flags with which this version of Java gives the fastest kernels; empty if it needs none.
   */
  public static String jvmFlags() {
    return Runtime.version().feature() < 22 ? ArrayPinning.FLAGS : "";
  }

  private static Optional<NativeKernels> chooseNative() {
    if (!System.getProperty(PROPERTY, "").isEmpty() || NativeKernels.fastest().isEmpty()) {
      return Optional.empty();
    }
    if (!ArrayPinning.isSafe()) {
      LOG.warn(
          "The native kernels are off and the CPU backend uses plain Java, which is 10 to 40 times"
              + " slower, because on Java {} they could make other threads run out of memory. Start"
              + " Java with {} or use Java 25.",
          Runtime.version().feature(),
          ArrayPinning.FLAGS);
      return Optional.empty();
    }
    return NativeKernels.fastest().map(NativeKernels::new);
  }
}
