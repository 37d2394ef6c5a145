package io.radixflow.lab.device;

/**
 * A measurement on a GPU.
 *
 * @param group the figure's group: {@code ceiling}, or a model's shape and a mode
 * @param name the name of the measured operation
 * @param seconds duration
 * @param bytes the least bytes that it must read and write
 * @param flops the least operations that it must do
 * @param floorSeconds the least time that these take at the device's ceilings; 0 for a ceiling
 */
public record GpuFigure(
    String group, String name, double seconds, double bytes, double flops, double floorSeconds) {

  /**
   * Returns the floor as a share of the time: 1 is as fast as the device can be; 0 for a ceiling.
   */
  public double ratio() {
    return floorSeconds / seconds;
  }
}
