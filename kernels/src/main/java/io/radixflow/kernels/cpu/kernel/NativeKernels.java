package io.radixflow.kernels.cpu.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kernels in native code, with the best products of 16-bit integers that the machine has (AVX-512
 * VNNI, AVX-VNNI, AVX2). The code is in {@code src/main/c}. Its results are identical to the
 * results of the Java kernels, bit for bit. Stateless and safe for many threads.
 *
 * <p>Arrays are pinned while a method runs: in steps with many rows for up to some milliseconds.
 * See {@link ArrayPinning}.
 */
public final class NativeKernels {

  /** An instruction set. The order is the same as in jni.c. */
  public enum Isa {
    AVX2,
    AVX_VNNI,
    AVX512_VNNI
  }

  private static final Logger LOG = LoggerFactory.getLogger(NativeKernels.class);
  private static final String LIBRARY = "/native/linux-x86_64/libradixflow-cpu.so";
  private static final String PROPERTIES = "/native/native.properties";
  private static final Set<Isa> SUPPORTED = Collections.unmodifiableSet(load());

  private final int isa;

  /**
   * @throws IllegalArgumentException if this machine does not have the instructions
   */
  public NativeKernels(Isa isa) {
    if (!SUPPORTED.contains(isa)) {
      throw new IllegalArgumentException("no native kernels support " + isa);
    }
    this.isa = isa.ordinal();
  }

  /** The number of the instruction set in jni.c. */
  public int isaNumber() {
    return isa;
  }

  /** The instruction set, such as {@code avx512-vnni}. */
  public String isa() {
    return Isa.values()[isa].name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The fastest instruction set that both this machine and the native code support. */
  public static Optional<Isa> fastest() {
    return SUPPORTED.stream().max(Comparator.naturalOrder());
  }

  /** The instruction sets that both this machine and the native code support, the slowest first. */
  public static Set<Isa> supported() {
    return SUPPORTED;
  }

  private static Set<Isa> load() {
    Set<Isa> none = EnumSet.noneOf(Isa.class);
    Properties properties = new Properties();
    try (InputStream in = NativeKernels.class.getResourceAsStream(PROPERTIES);
        InputStream library = NativeKernels.class.getResourceAsStream(LIBRARY)) {
      if (in != null) {
        properties.load(in);
      }
      if (library == null) {
        LOG.info(
            "No native kernels: {}. The CPU backend computes in Java.",
            properties.getProperty("reason", "this build has none"));
        return none;
      }
      if (!isLinuxOnX86()) {
        LOG.info("No native kernels: the build has native kernels only for Linux on x86-64.");
        return none;
      }
      link(library);
      Set<Isa> supported = EnumSet.allOf(Isa.class);
      int isas = supportedIsas();
      supported.removeIf(isa -> (isas >> isa.ordinal() & 1) == 0);
      if (supported.isEmpty()) {
        LOG.info("No native kernels: this machine has no AVX2. The CPU backend computes in Java.");
      }
      return supported;
    } catch (IOException | LinkageError | SecurityException e) {
      LOG.warn(
          "Cannot load the native kernels: {}. The CPU backend uses slower Java code; check"
              + " that {} is writable and not mounted noexec.",
          e.toString(),
          System.getProperty("java.io.tmpdir"));
      return none;
    }
  }

  private static boolean isLinuxOnX86() {
    String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    return System.getProperty("os.name", "").equals("Linux")
        && (arch.equals("amd64") || arch.equals("x86_64"));
  }

  /** Loads a copy of the library and deletes the copy at once. */
  private static void link(InputStream library) throws IOException {
    Path copy = Files.createTempFile("radixflow-cpu", ".so");
    try {
      Files.write(copy, library.readAllBytes());
      System.load(copy.toAbsolutePath().toString());
    } finally {
      Files.deleteIfExists(copy);
    }
  }

  /**
   * Lowers the priority of the calling thread permanently. Does nothing without the native kernels,
   * because Java's own priorities have no effect on Linux.
   *
   * @param nice 1 to 19; each step reduces the thread's weight by a fifth
   * @return whether the system changed the priority
   */
  public static boolean deferToOthers(int nice) {
    return !SUPPORTED.isEmpty() && setNice(nice) == 0;
  }

  /**
   * Makes the system run the calling thread only if no other thread of its control group wants the
   * core ({@code SCHED_IDLE}). Does nothing without the native kernels.
   *
   * @return whether the system changed the policy
   */
  public static boolean runWhenIdle() {
    return !SUPPORTED.isEmpty() && setIdle() == 0;
  }

  private static native int setNice(int nice);

  private static native int setIdle();

  private static native int supportedIsas();

  /**
   * Rounds {@code columns} floats from {@code from} on, and writes them to row {@code row} of the
   * last three arrays.
   */
  public void pack(
      float[] in, int from, int columns, int row, int[] pairs, float[] scales, float[] sums) {
    pack(isa, in, from, columns, row, pairs, scales, sums);
  }

  private static native void pack(
      int isa,
      float[] in,
      int from,
      int columns,
      int row,
      int[] pairs,
      float[] scales,
      float[] sums);

  /** See {@link Kernels#widenHalf}. */
  void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    widenHalf(isa, source, so, count, out, oo);
  }

  private static native void widenHalf(
      int isa, short[] source, int so, int count, float[] out, int oo);

  /**
   * Multiplies and adds 16-bit integers in registers only, as fast as one thread can. Returns the
   * number of multiply-adds.
   */
  public long multiplyAdd(long rounds) {
    return peak(isa, rounds);
  }

  private static native long peak(int isa, long rounds);
}
