package io.radixflow.kernels.device;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures memory. On Linux it reads {@code /proc} and the process's control groups (version 1 or
 * 2); elsewhere it asks the JVM.
 */
final class SystemMemory implements MemorySource {

  static final SystemMemory SYSTEM = new SystemMemory(Path.of("/"));

  /** File and field names of a control group's limit and usage, by version. */
  private enum Version {
    ONE("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
    TWO("memory.max", "memory.current", "inactive_file ");

    private final String limit;
    private final String use;
    private final String reclaimable;

    Version(String limit, String use, String reclaimable) {
      this.limit = limit;
      this.use = use;
      this.reclaimable = reclaimable;
    }
  }

  /** The limit of one control group, and how many bytes of it are not used. */
  private record Limit(long bytes, long left) {}

  private final Path root;

  /**
   * @param root the directory that contains {@code proc} and {@code sys}
   */
  SystemMemory(Path root) {
    this.root = root;
  }

  @Override
  public MemoryStatus now() {
    Runtime runtime = Runtime.getRuntime();
    long committed = runtime.totalMemory();
    long used = committed - runtime.freeMemory();
    long machine = field("MemTotal:");
    long available = field("MemAvailable:");
    if (machine <= 0 || available < 0) {
      machine =
          ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
      available = machine - committed;
    }
    Limit group = smallest(machine);
    long container = group == null ? 0 : group.bytes;
    available = group == null ? available : Math.min(available, group.left);
    return new MemoryStatus(machine, container, available, runtime.maxMemory(), committed, used);
  }

  @Override
  public MemoryStatus afterCollection() {
    System.gc();
    return now();
  }

  private long field(String name) {
    for (String line : lines(root.resolve("proc/meminfo"))) {
      if (line.startsWith(name)) {
        return number(line.substring(name.length()).replace("kB", "")) << 10;
      }
    }
    return -1;
  }

  /**
   * The limit with the fewest bytes left, among all groups of the process; null if there is none.
   */
  private Limit smallest(long machine) {
    Limit smallest = null;
    for (String line : lines(root.resolve("proc/self/cgroup"))) {
      String[] parts = line.split(":", 3);
      boolean two = line.startsWith("0::");
      if (parts.length == 3 && (two || List.of(parts[1].split(",")).contains("memory"))) {
        Path mount = root.resolve(two ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
        Path group = mount.resolve(parts[2].substring(1)).normalize();
        // Inside a container the path is the host's; the container's own group is the mount.
        for (Path at = group.startsWith(mount) ? group : mount; ; at = at.getParent()) {
          Limit limit = limit(at, two ? Version.TWO : Version.ONE, machine);
          if (limit != null && (smallest == null || limit.left < smallest.left)) {
            smallest = limit;
          }
          if (at.equals(mount)) {
            break;
          }
        }
      }
    }
    return smallest;
  }

  /** The limit of a group; null if it has none or one above the machine's memory. */
  private static Limit limit(Path group, Version version, long machine) {
    long limit = number(String.join("", lines(group.resolve(version.limit))));
    if (limit <= 0 || limit >= machine) {
      return null;
    }
    long used = Math.max(0, number(String.join("", lines(group.resolve(version.use)))));
    for (String line : lines(group.resolve("memory.stat"))) {
      if (line.startsWith(version.reclaimable)) {
        used -= Math.max(0, number(line.substring(version.reclaimable.length())));
      }
    }
    return new Limit(limit, Math.max(0, limit - used));
  }

  private static List<String> lines(Path file) {
    try {
      return Files.isReadable(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** A number of bytes; -1 for other text, such as {@code max}. */
  private static long number(String text) {
    String digits = text.strip();
    return digits.matches("[0-9]{1,18}") ? Long.parseLong(digits) : -1;
  }
}
