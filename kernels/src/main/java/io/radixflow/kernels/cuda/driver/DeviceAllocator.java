package io.radixflow.kernels.cuda.driver;

/** Hands out memory of a device, or adds up what would be taken. */
@FunctionalInterface
public interface DeviceAllocator {

  /**
   * Returns memory with undefined contents; null from one that only counts.
   *
   * @param what for the message if there is none
   */
  DeviceMemory allocate(long bytes, String what);
}
