package io.radixflow.kernels;

import io.radixflow.kernels.cpu.PeakLoops;
import java.util.ArrayList;
import java.util.Collections;
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
  private static final int[] CHAINS = {8, 12};
  private static final int FMA_CALLS = 250;
  private static final int FMA_ROUNDS = 10_000;

  /** Short ones, a few milliseconds each, so that some find the cores free. */
  private static final int REPETITIONS = 20;

  /**
   * Measures for about two seconds; the best of several repetitions counts.
   *
   * @throws InterruptedException if the calling thread is interrupted
   * @throws LinkageError without the Vector API
   */
  public static MachinePeak measure(int threads) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      return new MachinePeak(
          threads, readBytesPerSecond(pool, threads), flopsPerSecond(pool, threads));
    } finally {
      pool.shutdownNow();
    }
  }

  private static double readBytesPerSecond(ExecutorService pool, int threads)
      throws InterruptedException {
    List<Callable<Float>> reads = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      float[] memory = new float[FLOATS];
      reads.add(() -> PeakLoops.read(memory));
    }
    return (double) FLOATS * Float.BYTES * threads / leastSeconds(pool, reads);
  }

  private static double flopsPerSecond(ExecutorService pool, int threads)
      throws InterruptedException {
    double best = 0;
    for (int chains : CHAINS) {
      double flops = (double) PeakLoops.flopsPerRound(chains) * FMA_ROUNDS * FMA_CALLS * threads;
      List<Callable<Float>> multiplies = Collections.nCopies(threads, () -> multiplyAdd(chains));
      best = Math.max(best, flops / leastSeconds(pool, multiplies));
    }
    return best;
  }

  private static float multiplyAdd(int chains) {
    float sum = 0;
    for (int call = 0; call < FMA_CALLS; call++) {
      sum += PeakLoops.multiplyAdd(chains, FMA_ROUNDS);
    }
    return sum;
  }

  private static double leastSeconds(ExecutorService pool, List<Callable<Float>> tasks)
      throws InterruptedException {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < REPETITIONS; i++) {
      least = Math.min(least, seconds(pool, tasks));
    }
    return least;
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
