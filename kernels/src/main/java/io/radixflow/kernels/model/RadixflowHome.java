package io.radixflow.kernels.model;

import java.nio.file.Path;

/** The directory of downloaded models and remembered fingerprints. */
public final class RadixflowHome {
  private RadixflowHome() {}

  /** {@code $RADIXFLOW_HOME}, by default {@code ~/.cache/radixflow}; need not exist yet. */
  public static Path path() {
    String home = System.getenv("RADIXFLOW_HOME");
    if (home != null && !home.isBlank()) {
      return Path.of(home).toAbsolutePath();
    }
    return Path.of(System.getProperty("user.home"), ".cache", "radixflow").toAbsolutePath();
  }
}
