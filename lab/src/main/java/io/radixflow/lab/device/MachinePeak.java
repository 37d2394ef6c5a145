package io.radixflow.lab.device;

import io.radixflow.kernels.cpu.kernel.CompiledKernels;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongUnaryOperator;

/**
 * The measured peak bandwidth and arithmetic of this machine's CPU, with which benchmarks compare.
 * Needs the native kernels.
 *
 * @param threads threads that ran at the same time
 * @param readBytesPerSecond read bandwidth of main memory
 * @param flopsPerSecond float operations of fused multiply-adds in registers; each counts as two
 * @param integerOpsPerSecond operations of 16-bit multiply-adds in registers; each counts as two
 */
public record MachinePeak(
    int threads, double readBytesPerSecond, double flopsPerSecond, double integerOpsPerSecond) {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static final int FLOATS = 32 << 20;
  private static final long ROUNDS = 1_000_000;

  /**
   * Each repetition takes a few milliseconds, so that in some repetitions all threads run at the
   * same time.
   */
  private static final int REPETITIONS = 20;

  /**
   * Measures for about two seconds; the best of several repetitions counts.
   *
   * @throws InterruptedException if the calling thread is interrupted
   * @throws IllegalStateException without native kernels
   */
  public static MachinePeak measure(int threads) throws InterruptedException {
    NativeKernels integers =
        KernelProvider.nativeKernels()
            .orElseThrow(() -> new IllegalStateException("there are no native kernels"));
    CompiledKernels floats = new CompiledKernels(integers);
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      return new MachinePeak(
          threads,
          readBytesPerSecond(pool, floats, threads),
          operationsPerSecond(pool, floats::multiplyAdd, threads),
          operationsPerSecond(pool, integers::multiplyAdd, threads));
    } finally {
      pool.shutdownNow();
    }
  }

  private static double readBytesPerSecond(
      ExecutorService pool, CompiledKernels kernels, int threads) throws InterruptedException {
    List<Callable<Double>> reads = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Floats memory = Floats.allocate(FLOATS);
      reads.add(() -> seconds(() -> kernels.read(memory)));
    }
    return best(pool, reads, (double) FLOATS * Float.BYTES);
  }

  /** Two operations per multiply-add. */
  private static double operationsPerSecond(
      ExecutorService pool, LongUnaryOperator multiplyAdd, int threads)
      throws InterruptedException {
    double operations = 2.0 * multiplyAdd.applyAsLong(ROUNDS);
    Callable<Double> multiplies = () -> seconds(() -> (float) multiplyAdd.applyAsLong(ROUNDS));
    return best(pool, Collections.nCopies(threads, multiplies), operations);
  }

  /**
   * Returns the processor time of a loop on this thread, or its elapsed time if the JVM does not
   * measure processor time.
   */
  private static double seconds(Callable<Float> loop) throws Exception {
    boolean exact = CLOCK.isCurrentThreadCpuTimeSupported();
    long start = exact ? CLOCK.getCurrentThreadCpuTime() : System.nanoTime();
    if (Float.isNaN(loop.call())) {
      throw new IllegalStateException("the peak measurement computed NaN");
    }
    return ((exact ? CLOCK.getCurrentThreadCpuTime() : System.nanoTime()) - start) * 1e-9;
  }

  /**
   * Returns the result of the best repetition: the sum of the rates of all threads, which run at
   * the same time.
   */
  private static double best(ExecutorService pool, List<Callable<Double>> tasks, double work)
      throws InterruptedException {
    double best = 0;
    for (int i = 0; i < REPETITIONS; i++) {
      double rate = 0;
      for (Future<Double> seconds : pool.invokeAll(tasks)) {
        rate += work / result(seconds);
      }
      best = Math.max(best, rate);
    }
    return best;
  }

  private static double result(Future<Double> seconds) throws InterruptedException {
    try {
      return seconds.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
