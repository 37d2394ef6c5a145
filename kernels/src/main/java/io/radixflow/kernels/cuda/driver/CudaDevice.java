package io.radixflow.kernels.cuda.driver;

import java.util.Locale;

/**
 * A CUDA device as the driver describes it.
 *
 * @param ordinal the driver's number of the device
 * @param totalMemory bytes of memory
 * @param major major number of the compute capability
 * @param minor minor number of the compute capability
 * @param multiprocessors number of multiprocessors, which run the blocks
 * @param sharedMemory the largest number of bytes of shared memory that a block may use
 */
public record CudaDevice(
    int ordinal,
    String name,
    long totalMemory,
    int major,
    int minor,
    int multiprocessors,
    int sharedMemory) {

  /**
   * Returns why the kernels do not run on the device, or null if they do. They need bf16 tensor
   * cores and asynchronous copies.
   */
  public String problem() {
    String needed = "%s has compute capability %d.%d; the kernels need 8.0 or higher";
    return major >= 8 ? null : String.format(Locale.ROOT, needed, name, major, minor);
  }

  /**
   * Returns whether the build has machine code for the device (sm_80 or sm_90a). For other devices
   * the driver compiles the PTX.
   */
  boolean isCompiledFor() {
    return major == 8 || hopper();
  }

  /** Returns whether kernels compiled for sm_90a run on the device. */
  public boolean hopper() {
    return major == 9 && minor == 0;
  }
}
