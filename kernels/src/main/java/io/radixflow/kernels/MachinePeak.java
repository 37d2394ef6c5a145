package io.radixflow.kernels;

import io.radixflow.kernels.cpu.PeakLoops;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What the machine's CPU can do at best, measured: the yardstick of benchmarks. Needs the Vector
 * API.
 *
 * @param threads threads that ran at once
 * @param readBytesPerSecond read bandwidth of main memory
 * @param flopsPerSecond float operations of fused multiply-adds in registers, two each
 */
public record MachinePeak(int threads, double readBytesPerSecond, double flopsPerSecond) {
  private static final int FLOATS = 32 << 20;
  private static final int FMA_ROUNDS = 20_000_000;
  private static final int REPETITIONS = 5;

  /**
   * Measures for a few seconds; the best of several repetitions counts.
   *
   * @throws InterruptedException if the calling thread is interrupted
   * @throws LinkageError without the Vector API
   */
  public static MachinePeak measure(int threads) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Float>> reads = new ArrayList<>();
      List<Callable<Float>> multiplies = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        float[] memory = new float[FLOATS];
        reads.add(() -> PeakLoops.read(memory));
        multiplies.add(() -> PeakLoops.multiplyAdd(FMA_ROUNDS));
      }
      double readSeconds = Double.MAX_VALUE;
      double fmaSeconds = Double.MAX_VALUE;
      for (int i = 0; i < REPETITIONS; i++) {
        readSeconds = Math.min(readSeconds, seconds(pool, reads));
        fmaSeconds = Math.min(fmaSeconds, seconds(pool, multiplies));
      }
      double bytes = (double) FLOATS * Float.BYTES * threads;
      double flops = (double) PeakLoops.flopsPerRound() * FMA_ROUNDS * threads;
      return new MachinePeak(threads, bytes / readSeconds, flops / fmaSeconds);
    } finally {
      pool.shutdownNow();
    }
  }

  private static double seconds(ExecutorService pool, List<Callable<Float>> tasks)
      throws InterruptedException {
    long start = System.nanoTime();
    for (Future<Float> result : pool.invokeAll(tasks)) {
      try {
        if (Float.isNaN(result.get())) {
          throw new IllegalStateException("the peak measurement computed NaN");
        }
      } catch (ExecutionException e) {
        if (e.getCause() instanceof LinkageError missing) {
          throw missing;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
    return (System.nanoTime() - start) * 1e-9;
  }
}
