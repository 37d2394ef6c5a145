package io.radixflow.kernels.cuda.driver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/** The compiled kernels: what the build put into the jar, or a file that a property names. */
public final class DeviceCode {

  /** System property: a file of device code to use instead of the one in the jar. */
  public static final String FILE_PROPERTY = "gpu.module";

  private static final String FOLDER = "/gpu/";

  private final String description;
  private final byte[] image;

  private DeviceCode(String description, byte[] image) {
    this.description = description;
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
          throw new CudaUnavailableException("No device code is inside: " + contents());
        }
        return new DeviceCode(contents(), in.readAllBytes());
      }
    } catch (IOException e) {
      throw new CudaUnavailableException("The device code cannot be read: " + e.getMessage(), e);
    }
  }

  /** The device code in a file. */
  static DeviceCode read(Path file) throws IOException {
    return new DeviceCode(file.toString(), Files.readAllBytes(file));
  }

  /** One line on what the build put into the jar: nvcc's version and targets, or why nothing is. */
  public static String contents() {
    Properties properties = new Properties();
    try (InputStream in = resource("device-code.properties")) {
      if (in == null) {
        return "this build made none";
      }
      properties.load(in);
    } catch (IOException e) {
      return "its description cannot be read: " + e.getMessage();
    }
    if (!Boolean.parseBoolean(properties.getProperty("device.code"))) {
      return properties.getProperty("reason");
    }
    return String.format(
        "nvcc %s for %s, sources %s",
        properties.getProperty("nvcc"),
        properties.getProperty("targets"),
        properties.getProperty("sources.sha256").substring(0, 12));
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
