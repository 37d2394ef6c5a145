package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Assumptions;

/**
 * The CUDA device of tests: the emulated one, or a real one with {@code -Dgpu.driver=<path of
 * libcuda.so.1>}.
 *
 * <p>Where the emulator was not built, as without g++, tests are skipped, or fail where {@code
 * RADIXFLOW_REQUIRE_EMULATOR} is {@code true}.
 */
public final class EmulatedGpu {

  private static final String FOLDER = "/gpu-emulator/";
  private static final String DRIVER = "libcuda.so.1";
  private static final String MODULE = "radixflow-host.so";
  private static final String PROBES = "probes.so";

  private static boolean emulated;
  private static boolean chosen;

  private EmulatedGpu() {}

  /** Makes sure that {@link CudaDriver#load} and {@link DeviceCode#load} find a device. */
  public static synchronized void require() {
    if (!chosen) {
      if (System.getProperty(CudaDriver.LIBRARY_PROPERTY) == null) {
        choose(folder());
        CudaDriver.load();
        EmulatedDriver.reset();
        emulated = true;
      }
      chosen = true;
    }
    CudaDriver.load();
  }

  /** JVM flags by which another process finds the emulated device, this one loading nothing. */
  public static List<String> jvmFlags() {
    Path folder = folder();
    return List.of(
        "-D" + CudaDriver.LIBRARY_PROPERTY + "=" + folder.resolve(DRIVER),
        "-D" + DeviceCode.FILE_PROPERTY + "=" + folder.resolve(MODULE));
  }

  /** Requires a device like {@link #require}; also skips the test on a real device. */
  public static void requireEmulated() {
    require();
    Assumptions.assumeTrue(isEmulated(), "for the emulated device only");
  }

  /**
   * Device and pinned memory were freed and contexts destroyed, as far as that can be seen; also
   * after a skipped test.
   */
  public static void assertNothingIsLeaked() {
    if (isEmulated()) {
      assertThat(EmulatedDriver.deviceAllocations()).as("device memory not freed").isZero();
      assertThat(EmulatedDriver.pinnedAllocations()).as("pinned memory not freed").isZero();
      assertThat(EmulatedDriver.contexts()).as("contexts not destroyed").isZero();
    }
  }

  /** Returns whether {@link #require} has found the emulated device. */
  public static synchronized boolean isEmulated() {
    return emulated;
  }

  /** Kernels that show what the emulator does. */
  static DeviceCode probes() {
    try {
      return DeviceCode.read(
          Path.of(System.getProperty(DeviceCode.FILE_PROPERTY)).resolveSibling(PROBES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void choose(Path folder) {
    System.setProperty(CudaDriver.LIBRARY_PROPERTY, folder.resolve(DRIVER).toString());
    System.setProperty(DeviceCode.FILE_PROPERTY, folder.resolve(MODULE).toString());
  }

  private static Path folder() {
    URL driver = EmulatedGpu.class.getResource(FOLDER + DRIVER);
    if (driver == null) {
      String hint = "no emulated CUDA device: " + reason();
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_EMULATOR"))).as(hint).isFalse();
      Assumptions.abort(hint);
    }
    try {
      if (driver.getProtocol().equals("file")) {
        return Path.of(URI.create(driver.toString())).getParent();
      }
      return unpack();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path unpack() throws IOException {
    Path folder = Files.createTempDirectory("radixflow-emulator-");
    folder.toFile().deleteOnExit();
    for (String name : new String[] {DRIVER, MODULE, PROBES}) {
      try (InputStream in = EmulatedGpu.class.getResourceAsStream(FOLDER + name)) {
        Files.copy(in, folder.resolve(name));
      }
      folder.resolve(name).toFile().deleteOnExit();
    }
    return folder;
  }

  private static String reason() {
    Properties properties = new Properties();
    try (InputStream in = EmulatedGpu.class.getResourceAsStream(FOLDER + "emulator.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("reason", "the build did not make it");
  }
}
