package io.radixflow.kernels.cpu.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The address space of this process, on Linux. */
public final class AddressSpace {
  private AddressSpace() {}

  public static long megabytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmSize:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) >> 10)
        .findFirst()
        .orElseThrow();
  }
}
