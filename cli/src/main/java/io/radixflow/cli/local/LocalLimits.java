package io.radixflow.cli.local;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The resources that broker, Flink and engine need in one process. Without these resources they
 * fail in ways that do not show the cause.
 *
 * @param files the most files that the process may open
 * @param heapBytes the maximum heap
 * @param diskBytes free space in the data directory
 */
public record LocalLimits(long files, long heapBytes, long diskBytes) {

  private static final long LEAST_FILES = 600;
  private static final long LEAST_HEAP = 160L << 20;
  private static final long LEAST_DISK = 256L << 20;

  /** Returns the limits of this process with its data in a directory, which need not exist. */
  public static LocalLimits of(Path directory) throws IOException {
    Path existing = directory.toAbsolutePath();
    while (!Files.exists(existing)) {
      existing = existing.getParent();
    }
    long files =
        ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            ? unix.getMaxFileDescriptorCount()
            : Long.MAX_VALUE;
    return new LocalLimits(
        files, Runtime.getRuntime().maxMemory(), Files.getFileStore(existing).getUsableSpace());
  }

  /** Returns a message with the remedy for each limit that is too low. */
  public List<String> problems(Path directory) {
    List<String> problems = new ArrayList<>();
    if (diskBytes < LEAST_DISK) {
      problems.add(
          "%s has %d MB of free space, and at least %d MB are needed: free some, or choose another directory"
              .formatted(directory, diskBytes >> 20, LEAST_DISK >> 20));
    }
    if (files < LEAST_FILES) {
      problems.add(
          "this process may have %d files open, and it needs %d: raise the limit, as with ulimit -n 4096"
              .formatted(files, LEAST_FILES));
    }
    if (heapBytes < LEAST_HEAP) {
      problems.add(
          "the heap is %d MB at most, and at least %d MB are needed: give the JVM more, as with RADIXFLOW_JAVA_OPTS=-Xmx1g"
              .formatted(heapBytes >> 20, LEAST_HEAP >> 20));
    }
    return problems;
  }

  /**
   * @throws IOException if a limit is too low; the message has the remedy
   */
  static void require(Path directory) throws IOException {
    List<String> problems = of(directory).problems(directory);
    if (!problems.isEmpty()) {
      throw new IOException(String.join("; ", problems));
    }
  }
}
