package io.radixflow.kernels.cpu.kernel;

import java.lang.reflect.Constructor;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the fastest kernels that this JVM can run. It chooses once, and logs why it could not
 * choose faster ones.
 *
 * <p>The system property {@value #PROPERTY} forces {@code scalar} or {@code vector}, both without
 * native kernels.
 */
public final class KernelProvider {

  static final String PROPERTY = "radixflow.cpu.provider";

  private static final Logger LOG = LoggerFactory.getLogger(KernelProvider.class);
  private static final String MODULE = "jdk.incubator.vector";
  private static final Optional<NativeKernels> NATIVE = chooseNative();
  private static final Kernels BEST = choose();

  private KernelProvider() {}

  /** The kernels of this process. */
  public static Kernels best() {
    return BEST;
  }

  /**
   * The native kernels of this process; empty if there are none, if they are not allowed, or if
   * other kernels are forced.
   */
  public static Optional<NativeKernels> nativeKernels() {
    return NATIVE;
  }

  /** The flags with which this version of Java gives the fastest kernels. */
  public static String jvmFlags() {
    String pinning = Runtime.version().feature() < 22 ? " " + ArrayPinning.FLAGS : "";
    return "--add-modules " + MODULE + pinning;
  }

  private static Optional<NativeKernels> chooseNative() {
    if (!System.getProperty(PROPERTY, "").isEmpty() || NativeKernels.fastest().isEmpty()) {
      return Optional.empty();
    }
    if (!ArrayPinning.isSafe()) {
      LOG.warn(
          "The native kernels are off and the CPU backend uses slower Java code, because on Java {}"
              + " they could make other threads run out of memory. Start Java with {} or use Java"
              + " 25.",
          Runtime.version().feature(),
          ArrayPinning.FLAGS);
      return Optional.empty();
    }
    return NativeKernels.fastest().map(NativeKernels::new);
  }

  private static Kernels choose() {
    String forced = System.getProperty(PROPERTY, "");
    if (forced.equals("scalar")) {
      return new ScalarKernels();
    }
    Optional<Kernels> vector = vector(nativeKernels().orElse(null));
    if (vector.isEmpty()) {
      LOG.warn(
          "The Vector API is off: the CPU backend runs scalar code, 10 to 40 times slower. Start"
              + " Java with --add-modules {} to get fast kernels.",
          MODULE);
      return new ScalarKernels();
    }
    if (!forced.equals("vector") && !(Fma.HARDWARE && vector.get().vectorBits() >= 128)) {
      LOG.warn(
          "This machine or JVM has no vector instructions with fused multiply-add (-XX:UseAVX,"
              + " -XX:UseFMA): the CPU backend runs scalar code, which is much slower.");
      return new ScalarKernels();
    }
    return vector.get();
  }

  /**
   * The vector kernels, if their module is present. They are loaded by name, so that this class
   * does not need the module.
   */
  public static Optional<Kernels> vector() {
    return vector(null);
  }

  private static Optional<Kernels> vector(NativeKernels fast) {
    if (ModuleLayer.boot().findModule(MODULE).isEmpty()) {
      return Optional.empty();
    }
    try {
      Constructor<?> constructor =
          Class.forName(KernelProvider.class.getPackageName() + ".VectorKernels")
              .getDeclaredConstructor(NativeKernels.class);
      return Optional.of((Kernels) constructor.newInstance(fast));
    } catch (ReflectiveOperationException | LinkageError e) {
      LOG.warn("Cannot load the vector kernels: {}", e.toString());
      return Optional.empty();
    }
  }
}
