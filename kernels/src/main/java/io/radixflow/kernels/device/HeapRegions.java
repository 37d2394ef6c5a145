package io.radixflow.kernels.device;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * The regions of Java's heap under G1. G1 gives an array of at least half a region its own regions.
 * The rest of its last region stays empty.
 *
 * @param bytes size of a region; 0 if the collector does not use regions
 */
public record HeapRegions(long bytes) {

  /** Returns the regions of this process's heap. */
  public static HeapRegions current() {
    boolean regions = flag("UseG1GC").equals("true");
    return new HeapRegions(regions ? Long.parseLong(flag("G1HeapRegionSize")) : 0);
  }

  /** Returns the value of a JVM flag; empty if the JVM does not have the flag. */
  private static String flag(String name) {
    try {
      HotSpotDiagnosticMXBean flags =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      return flags == null ? "" : flags.getVMOption(name).getValue();
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  /** Returns how many bytes stay empty after an array of {@code array} bytes. */
  public long lost(long array) {
    return bytes == 0 || array < bytes / 2 ? 0 : (bytes - array % bytes) % bytes;
  }
}
