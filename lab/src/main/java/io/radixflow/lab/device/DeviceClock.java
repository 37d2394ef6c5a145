package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaEvent;
import io.radixflow.kernels.cuda.driver.CudaStream;

/**
 * Times work on a stream by the device's own clock.
 *
 * @param repetitions how often the work is run, after a few times that do not count
 */
record DeviceClock(CudaContext context, CudaStream stream, int repetitions) {

  private static final int WARM_UP = 3;
  private static final double LEAST = 1e-9;

  /** Seconds of one run of work that is queued on the stream. */
  double seconds(Runnable work) {
    try (CudaEvent before = context.newTimedEvent();
        CudaEvent after = context.newTimedEvent()) {
      for (int i = 0; i < WARM_UP; i++) {
        work.run();
      }
      before.record(stream);
      for (int i = 0; i < repetitions; i++) {
        work.run();
      }
      after.record(stream);
      after.synchronize();
      return Math.max(LEAST, after.millisecondsSince(before) * 1e-3 / repetitions);
    }
  }
}
