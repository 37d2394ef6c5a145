package io.radixflow.kernels.cuda.driver;

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
   * Returns whether the device has bf16 tensor cores and asynchronous copies, which the kernels
   * need.
   */
  public boolean supported() {
    return major >= 8;
  }

  /** Returns whether kernels compiled for sm_90a run on the device. */
  public boolean hopper() {
    return major == 9 && minor == 0;
  }
}
