package io.radixflow.jobs.config;

import java.nio.file.Path;

/** Files of this machine as Flink names them. */
public final class LocalFiles {
  private LocalFiles() {}

  /**
   * Returns a file as an option or argument of Flink: {@code file:} and the unescaped path. Flink
   * does not decode the escapes of a {@link java.net.URI}, so an escaped path with a space would
   * name another file.
   */
  public static String name(Path file) {
    return new org.apache.flink.core.fs.Path(file.toUri()).toString();
  }
}
