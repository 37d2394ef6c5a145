package io.radixflow.kernels.cuda.driver;

/** Allocates device memory, or only counts the bytes. */
@FunctionalInterface
public interface DeviceAllocator {

  /**
   * Allocates memory with undefined contents. Returns null if this only counts bytes.
   *
   * @param what the purpose of the memory, for the error message
   */
  DeviceMemory allocate(long bytes, String what);
}
