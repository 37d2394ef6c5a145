package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaEvent;
import io.radixflow.kernels.cuda.driver.CudaGraph;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelModule;
import java.util.List;

/**
 * Measures the time of work on a stream with the device's own clock.
 *
 * @param repetitions number of measured runs, after warm-up runs
 */
record DeviceClock(CudaContext context, CudaStream stream, int repetitions) {

  private static final int WARM_UP = 3;
  private static final double LEAST = 1e-9;
  private static final int READ_THREADS = 512;
  private static final int READ_BLOCKS = 4;

  /** Work that is queued on a stream; during a capture it allocates nothing. */
  @FunctionalInterface
  interface Work {
    void on(CudaStream stream);
  }

  /**
   * Returns the seconds of one run of work whose calls the host queues one by one; for long calls.
   */
  double seconds(Work work) {
    for (int i = 0; i < WARM_UP; i++) {
      work.on(stream);
    }
    return timed(queue -> repeat(work, queue)) / repetitions;
  }

  /**
   * Returns the mean seconds of works that follow one another in a graph, like the kernels of a
   * step. The host's part of a launch is not included.
   */
  double replayed(List<Work> works) {
    int rounds = (repetitions + works.size() - 1) / works.size();
    return graphSeconds(
            queue -> {
              for (int round = 0; round < rounds; round++) {
                works.forEach(work -> work.on(queue));
              }
            })
        / (rounds * works.size());
  }

  /** Returns the same for work whose data is not in the device's cache. */
  double replayedCold(Work work, KernelModule module) {
    long bytes = 2L * context.cacheBytes() & -16;
    try (DeviceMemory other = context.allocate(bytes + 16, "what fills the cache")) {
      other.fillAsync((byte) 0, stream);
      Work fill = read(module, context, other.slice(0, bytes), other.slice(bytes, 16));
      double both =
          graphSeconds(
              queue ->
                  repeat(
                      next -> {
                        fill.on(next);
                        work.on(next);
                      },
                      queue));
      double fillsOnly = graphSeconds(queue -> repeat(fill, queue));
      return Math.max(LEAST, (both - fillsOnly) / repetitions);
    }
  }

  /** Returns a read of memory at the highest rate of the device. */
  static Work read(
      KernelModule module, CudaContext context, DeviceMemory memory, DeviceMemory result) {
    return module
            .launch("rf_read")
            .pointer(memory)
            .wide(memory.bytes() / 16)
            .integer(1)
            .pointer(result)
            .grid(READ_BLOCKS * context.device().multiprocessors())
            .block(READ_THREADS)
        ::on;
  }

  private void repeat(Work work, CudaStream queue) {
    for (int i = 0; i < repetitions; i++) {
      work.on(queue);
    }
  }

  private double graphSeconds(Work work) {
    try (CudaGraph graph = stream.capture(() -> work.on(stream))) {
      graph.launch(stream);
      return timed(graph::launch);
    }
  }

  private double timed(Work work) {
    try (CudaEvent before = context.newTimedEvent();
        CudaEvent after = context.newTimedEvent()) {
      before.record(stream);
      work.on(stream);
      after.record(stream);
      after.synchronize();
      return Math.max(LEAST, after.millisecondsSince(before) * 1e-3);
    }
  }
}
