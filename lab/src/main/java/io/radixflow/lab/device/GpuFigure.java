package io.radixflow.lab.device;

/**
 * Something measured on a GPU.
 *
 * @param group the figure's group: {@code ceiling}, or a model's shape and a mode
 * @param name the name of the measured operation
 * @param seconds how long it took
 * @param bytes bytes that it must read and write at least
 * @param flops operations that it must do at least
 * @param floorSeconds the least time that these take at the device's ceilings; 0 for a ceiling
 */
public record GpuFigure(
    String group, String name, double seconds, double bytes, double flops, double floorSeconds) {

  /** The floor as a share of the time: 1 is as fast as the device can be; 0 for a ceiling. */
  public double ratio() {
    return floorSeconds / seconds;
  }
}
