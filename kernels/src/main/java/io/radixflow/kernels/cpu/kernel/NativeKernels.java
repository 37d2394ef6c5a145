package io.radixflow.kernels.cpu.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kernels in native code, with the best products of 16-bit integers that the machine has (AVX-512
 * VNNI, AVX-VNNI, AVX2, or NEON with or without dot products). The code is in {@code src/main/c}.
 * Its results are identical to the results of the Java kernels, bit for bit. Stateless and safe for
 * many threads.
 *
 * <p>Native code takes addresses of memory outside Java's heap. It pins no array, because before
 * Java 22 other threads could then run out of memory (JDK-8192647).
 */
public final class NativeKernels {

  /** An instruction set; of one architecture, the slowest first. */
  public enum Isa {
    AVX2(256),
    AVX_VNNI(256),
    AVX512_VNNI(512),
    NEON(128),
    /** With dot products of bytes. */
    NEON_DOT(128);

    private final int bits;

    Isa(int bits) {
      this.bits = bits;
    }

    /** The width of its vectors. */
    int bits() {
      return bits;
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(NativeKernels.class);
  private static final Map<Isa, Integer> NUMBERS = Collections.unmodifiableMap(load());

  private final Isa isa;
  private final int isaNumber;

  /**
   * @throws IllegalArgumentException if this machine does not have the instructions
   */
  public NativeKernels(Isa isa) {
    if (!NUMBERS.containsKey(isa)) {
      throw new IllegalArgumentException("no native kernels support " + isa);
    }
    this.isa = isa;
    isaNumber = NUMBERS.get(isa);
  }

  /** The number of the instruction set in the library. */
  public int isaNumber() {
    return isaNumber;
  }

  /** The instruction set, such as {@code avx512-vnni}. */
  public String isa() {
    return isa.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Bits of a vector. */
  int vectorBits() {
    return isa.bits();
  }

  /**
   * Kernels in the instruction set of that {@link #isa() name}, or in the fastest if it is empty.
   */
  static Optional<NativeKernels> named(String isa) {
    return isa.isEmpty()
        ? fastest().map(NativeKernels::new)
        : supported().stream()
            .map(NativeKernels::new)
            .filter(kernels -> kernels.isa().equals(isa))
            .findFirst();
  }

  /** The fastest instruction set that both this machine and the native code support. */
  public static Optional<Isa> fastest() {
    return NUMBERS.keySet().stream().max(Comparator.naturalOrder());
  }

  /** The instruction sets that both this machine and the native code support, the slowest first. */
  public static Set<Isa> supported() {
    return NUMBERS.keySet();
  }

  /** Says which compiler made the native kernels of this build, or why there are none. */
  public static String description() {
    try {
      return Platform.current().description();
    } catch (IOException e) {
      return "their description cannot be read: " + e.getMessage();
    }
  }

  /** The instruction sets that both this machine and the library support, with their numbers. */
  private static Map<Isa, Integer> load() {
    Map<Isa, Integer> none = new EnumMap<>(Isa.class);
    Platform platform = Platform.current();
    try (InputStream library = NativeKernels.class.getResourceAsStream(platform.library())) {
      if (library == null) {
        LOG.info("Native kernels: {}. The CPU backend computes in Java.", platform.description());
        return none;
      }
      link(library);
      Map<Isa, Integer> numbers = new EnumMap<>(Isa.class);
      String[] names = isas().split(" ");
      int supported = supportedIsas();
      for (int i = 0; i < names.length; i++) {
        if ((supported >> i & 1) != 0) {
          numbers.put(Isa.valueOf(names[i]), i);
        }
      }
      if (numbers.isEmpty()) {
        LOG.info("No native kernels: this machine has no AVX2. The CPU backend computes in Java.");
      }
      return numbers;
    } catch (IOException | LinkageError | SecurityException e) {
      LOG.warn(
          "Cannot load the native kernels: {}. The CPU backend uses slower Java code; check"
              + " that {} is writable and not mounted noexec.",
          e.toString(),
          System.getProperty("java.io.tmpdir"));
      return none;
    }
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
    return !NUMBERS.isEmpty() && setNice(nice) == 0;
  }

  /**
   * Makes the system run the calling thread only if no other thread of its control group wants the
   * core ({@code SCHED_IDLE}). Does nothing without the native kernels.
   *
   * @return whether the system changed the policy
   */
  public static boolean runWhenIdle() {
    return !NUMBERS.isEmpty() && setIdle() == 0;
  }

  private static native int setNice(int nice);

  private static native int setIdle();

  private static native String isas();

  private static native int supportedIsas();

  /**
   * Rounds a row of {@code columns} floats to integers; all are given by their addresses.
   *
   * @param pairs pairs of the integers
   * @param scales scales of blocks of 32 columns
   * @param sums sums of 16 columns each
   */
  public void pack(long in, int columns, long pairs, long scales, long sums) {
    pack(isaNumber, in, columns, pairs, scales, sums);
  }

  private static native void pack(
      int isa, long in, int columns, long pairs, long scales, long sums);

  /**
   * Multiplies and adds 16-bit integers in registers only, as fast as one thread can. Returns the
   * number of multiply-adds.
   */
  public long multiplyAdd(long rounds) {
    return peak(isaNumber, rounds);
  }

  private static native long peak(int isa, long rounds);
}
