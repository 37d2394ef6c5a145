package io.radixflow.kernels.device;

import static io.radixflow.kernels.device.MemoryNeeds.megabytes;

import java.util.Locale;

/**
 * The memory of a GPU, in bytes.
 *
 * @param name the device's name
 * @param total memory of the device
 * @param free memory that no process has taken
 * @param budget memory that weights, work space and KV pool may take together
 */
public record DeviceRoom(String name, long total, long free, long budget) {

  /**
   * The largest share of the memory that a process can use. The driver and its context use the
   * rest.
   */
  private static final double MOST = 0.95;

  /**
   * Checks that a model fits, before it is loaded.
   *
   * @param poolBytes size of the smallest KV pool that can be used
   * @throws OutOfDeviceMemoryException if the model would fit, but other processes use the memory
   * @throws IllegalArgumentException if the device is too small. Both messages give the numbers and
   *     advice.
   */
  public void require(MemoryNeeds needs, long poolBytes) {
    long model = needs.weightBytes() + needs.workBytes();
    long needed = model + poolBytes;
    if (needed <= budget) {
      return;
    }
    String problem =
        String.format(
            Locale.ROOT,
            "the model %s does not fit on %s: its weights need %s (%s), work space %s, the smallest"
                + " KV pool %s: %s together; the device has %d MB, of which %d MB are free and"
                + " gpu.memory allows %d MB. ",
            needs.model(),
            name,
            megabytes(needs.weightBytes()),
            needs.types(),
            megabytes(needs.workBytes()),
            megabytes(poolBytes),
            megabytes(needed),
            total >> 20,
            free >> 20,
            budget >> 20);
    if (budget - model > poolBytes / 16) {
      String fits = "A smaller KV pool fits: at most engine.kv-memory " + (budget - model >> 20);
      throw new IllegalArgumentException(problem + fits + "mb (engine.kv-pages counts too)");
    }
    if (needed <= free) {
      throw new IllegalArgumentException(
          problem + "Set gpu.memory to at least " + ((needed >> 20) + 1) + "mb");
    }
    if (needed <= total * MOST) {
      throw new OutOfDeviceMemoryException(
          problem + "Stop the other processes that use the device, or use another device", null);
    }
    throw new IllegalArgumentException(
        problem
            + needs.smaller().map(smaller -> smaller + ", or ").orElse("Use ")
            + "a GPU with more memory, or device cpu");
  }
}
