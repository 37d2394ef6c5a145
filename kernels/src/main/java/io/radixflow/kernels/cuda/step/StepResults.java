package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceAllocator;
import io.radixflow.kernels.cuda.driver.DeviceMemory;

/**
 * The results of a step's sampling on the device, for the host.
 *
 * @param heads {@value #RESULT_BYTES} bytes an output
 * @param topIds {@value #TOPS} token ids an output
 * @param topLogits their logits
 */
public record StepResults(DeviceMemory heads, DeviceMemory topIds, DeviceMemory topLogits)
    implements AutoCloseable {

  /** Bytes of an output's result: token, error, its token, top, mass, token's logit, reported. */
  static final int RESULT_BYTES = 32;

  /** Most alternatives an output reports. */
  static final int TOPS = 20;

  public static StepResults allocate(DeviceAllocator device, int outputs) {
    long tops = (long) Integer.BYTES * TOPS * outputs;
    return new StepResults(
        device.allocate((long) RESULT_BYTES * outputs, "results of a step"),
        device.allocate(tops, "log probabilities"),
        device.allocate(tops, "log probabilities"));
  }

  @Override
  public void close() {
    heads.close();
    topIds.close();
    topLogits.close();
  }
}
