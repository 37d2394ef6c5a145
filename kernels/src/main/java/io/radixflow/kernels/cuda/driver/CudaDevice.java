package io.radixflow.kernels.cuda.driver;

import java.util.Locale;

/**
 * A CUDA device as the driver describes it.
 *
 * @param ordinal the driver's number of it
 * @param totalMemory bytes
 * @param major of the compute capability
 * @param minor of the compute capability
 * @param multiprocessors how many run blocks
 * @param sharedMemory the most bytes of shared memory a block may ask for
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
   * Says why the kernels do not run on the device, or null if they do: they need bf16 tensor cores
   * and asynchronous copies.
   */
  public String problem() {
    String needed = "%s has compute capability %d.%d; the kernels need 8.0 or higher";
    return major >= 8 ? null : String.format(Locale.ROOT, needed, name, major, minor);
  }

  /**
   * Returns whether the build's machine code runs on the device, sm_80 or sm_90a; others have the
   * driver compile its PTX.
   */
  boolean isCompiledFor() {
    return major == 8 || hopper();
  }

  /** Returns whether kernels compiled for sm_90a run on the device. */
  public boolean hopper() {
    return major == 9 && minor == 0;
  }
}
