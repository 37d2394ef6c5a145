package io.radixflow.jobs.config;

import java.nio.file.Path;

/** Files of this machine as Flink names them. */
public final class LocalFiles {
  private LocalFiles() {}

  /**
   * A file as an option or argument of Flink: {@code file:} and the path as it is. Flink takes the
   * escapes of a {@link java.net.URI} literally, so a path with a space, escaped, would name
   * another file.
   */
  public static String name(Path file) {
    return new org.apache.flink.core.fs.Path(file.toUri()).toString();
  }
}
