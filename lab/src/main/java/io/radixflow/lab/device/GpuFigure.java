package io.radixflow.lab.device;

/**
 * Something measured on a GPU.
 *
 * @param group what it belongs to: {@code ceiling}, or a model's shape and a mode
 * @param name what was measured
 * @param seconds how long it took
 * @param bytes bytes that it must read and write at least
 * @param flops operations that it must do at least
 * @param floorSeconds the least time that these take at the device's ceilings; 0 for a ceiling
 */
public record GpuFigure(
    String group, String name, double seconds, double bytes, double flops, double floorSeconds) {

  /** How near it came to the floor: 1 is as fast as can be; 0 for a ceiling. */
  public double ratio() {
    return floorSeconds / seconds;
  }
}
