package io.radixflow.kernels.device;

/**
 * The regions of Java's heap under G1. G1 gives an array of at least half a region its own regions.
 * The rest of its last region stays empty.
 *
 * @param bytes size of a region; 0 if the collector does not use regions
 */
public record HeapRegions(long bytes) {

  /** Returns the regions of this process's heap. */
  public static HeapRegions current() {
    boolean regions = JvmFlag.value("UseG1GC").equals("true");
    return new HeapRegions(regions ? Long.parseLong(JvmFlag.value("G1HeapRegionSize")) : 0);
  }

  /** Returns how many bytes stay empty after an array of {@code array} bytes. */
  public long lost(long array) {
    return bytes == 0 || array < bytes / 2 ? 0 : (bytes - array % bytes) % bytes;
  }
}
