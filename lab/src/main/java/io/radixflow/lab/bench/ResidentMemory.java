package io.radixflow.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The resident memory of this process, including mapped files, as Linux counts it.
 *
 * @param bytes the current size
 * @param mostBytes the largest size so far
 * @param shareBytes the current size, in which a page shared by n processes counts as one nth of a
 *     page; -1 if unknown
 */
record ResidentMemory(long bytes, long mostBytes, long shareBytes) {

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Path SHARES = Path.of("/proc/self/smaps_rollup");

  /** Reads the kernel's figures; returns null if there are none. */
  static ResidentMemory read() throws IOException {
    return Files.isReadable(STATUS)
        ? parse(
            Files.readAllLines(STATUS),
            Files.isReadable(SHARES) ? Files.readAllLines(SHARES) : List.of())
        : null;
  }

  /**
   * Reads the figures from lines such as {@code VmRSS: 1024 kB}; returns null if a figure of the
   * status is missing.
   */
  static ResidentMemory parse(List<String> lines, List<String> shares) {
    long now = kibibytes(lines, "VmRSS:");
    long most = kibibytes(lines, "VmHWM:");
    long share = kibibytes(shares, "Pss:");
    return now < 0 || most < 0
        ? null
        : new ResidentMemory(now << 10, most << 10, share < 0 ? -1 : share << 10);
  }

  private static long kibibytes(List<String> lines, String field) {
    for (String line : lines) {
      if (line.startsWith(field)) {
        String digits = line.replaceAll("[^0-9]", "");
        return digits.isEmpty() ? -1 : Long.parseLong(digits);
      }
    }
    return -1;
  }
}
