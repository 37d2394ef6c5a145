package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.models.Attention;

/**
 * The last parameters of the attention kernels: how they process a layer's products of queries and
 * keys.
 *
 * @param scores scale, cap and sinks
 * @param window number of tokens that a query sees, including its own; 0 for all
 * @param sinks one logit per head, or null
 */
record ScoreArguments(Attention.Scores scores, int window, DeviceMemory sinks) {

  /** Appends the parameters. The kernels compute powers of two instead of powers of e. */
  void append(KernelLaunch launch) {
    float cap = scores.softCap();
    double scale = cap > 0 ? cap : scores.scale();
    launch
        .real((float) (scale / StrictMath.log(2)))
        .real(cap > 0 ? scores.scale() / cap : 0)
        .integer(window)
        .pointerOrNull(sinks);
  }
}
