package io.radixflow.kernels.cuda.driver;

/** Allocates device memory, or only counts the bytes. */
@FunctionalInterface
public interface DeviceAllocator {

  /**
   * Returns memory with undefined contents; null from an allocator that only counts.
   *
   * @param what what the memory is for, as the error message says it
   */
  DeviceMemory allocate(long bytes, String what);
}
