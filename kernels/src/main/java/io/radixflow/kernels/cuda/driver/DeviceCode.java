package io.radixflow.kernels.cuda.driver;

import io.radixflow.models.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** The compiled kernels: those in the jar, or a file that a property names. */
public final class DeviceCode {

  /** System property: a file of device code to use instead of the one in the jar. */
  public static final String FILE_PROPERTY = "gpu.module";

  private static final String FOLDER = "/gpu/";
  private static final String SOURCES = "sources.sha256";

  private final String description;
  private final String identity;
  private final byte[] image;

  /**
   * @param identity identifies sources, compiler and flags
   */
  private DeviceCode(String description, String identity, byte[] image) {
    this.description = description;
    this.identity = identity;
    this.image = image;
  }

  /**
   * The device code of this process.
   *
   * @throws CudaUnavailableException if the build had no nvcc
   */
  public static DeviceCode load() {
    String file = System.getProperty(FILE_PROPERTY);
    try {
      if (file != null) {
        return read(Path.of(file));
      }
      try (InputStream in = resource("radixflow.fatbin")) {
        if (in == null) {
          throw new CudaUnavailableException("This build contains no device code: " + contents());
        }
        Properties properties = properties();
        String identity =
            properties.getProperty(SOURCES) + ", nvcc " + properties.getProperty("nvcc");
        return new DeviceCode(contents(), identity, in.readAllBytes());
      }
    } catch (IOException e) {
      throw new CudaUnavailableException("The device code cannot be read: " + e.getMessage(), e);
    }
  }

  /** Reads device code from a file. */
  static DeviceCode read(Path file) throws IOException {
    byte[] image = Files.readAllBytes(file);
    return new DeviceCode(file.toString(), Sha256.digits(Sha256.of(image)), image);
  }

  /**
   * Returns one line about the device code in the jar: nvcc's version and targets, or why there is
   * none.
   */
  public static String contents() {
    Properties properties;
    try {
      properties = properties();
    } catch (IOException e) {
      return "its description cannot be read: " + e.getMessage();
    }
    if (properties.isEmpty()) {
      return "it was built without device code";
    }
    if (!Boolean.parseBoolean(properties.getProperty("device.code"))) {
      return properties.getProperty("reason");
    }
    return String.format(
        "nvcc %s for %s, sources %s",
        properties.getProperty("nvcc"),
        properties.getProperty("targets"),
        properties.getProperty(SOURCES).substring(0, 12));
  }

  /** The build's description of its device code; empty if it has none. */
  private static Properties properties() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = resource("device-code.properties")) {
      if (in != null) {
        properties.load(in);
      }
    }
    return properties;
  }

  /**
   * Identifies everything that decides the bits of the kernels' results, except the compute
   * capability: sources, compiler and, if the driver compiles the code, the driver.
   */
  String numerics(CudaDevice device, int driverVersion) {
    return device.isCompiledFor() ? identity : identity + ", driver " + driverVersion;
  }

  /** The origin of the code: a file, or the build that made it. */
  String description() {
    return description;
  }

  byte[] image() {
    return image;
  }

  private static InputStream resource(String name) {
    return DeviceCode.class.getResourceAsStream(FOLDER + name);
  }
}
