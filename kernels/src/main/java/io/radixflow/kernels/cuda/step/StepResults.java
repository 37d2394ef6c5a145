package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceAllocator;
import io.radixflow.kernels.cuda.driver.DeviceMemory;

/**
 * The results of sampling on the device, which are copied to the host.
 *
 * @param heads {@value #RESULT_BYTES} bytes per output
 * @param topIds {@value #TOPS} token ids per output
 * @param topLogits the logits of these tokens
 */
public record StepResults(DeviceMemory heads, DeviceMemory topIds, DeviceMemory topLogits)
    implements AutoCloseable {

  /**
   * Bytes of an output's result: token, error, the error's token, top logit, mass, the token's
   * logit, number of reported tokens.
   */
  static final int RESULT_BYTES = 32;

  /** The largest number of alternatives per output. */
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
