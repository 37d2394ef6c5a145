package io.radixflow.kernels.cpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * What the machine can do at best, measured: the yardstick of benchmarks. Needs the Vector API.
 *
 * @param threads threads that ran at once
 * @param readBytesPerSecond read bandwidth of main memory
 * @param flopsPerSecond float operations of fused multiply-adds in registers, two each
 */
public record MachinePeak(int threads, double readBytesPerSecond, double flopsPerSecond) {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int FLOATS = 32 << 20;
  private static final int FMA_ROUNDS = 20_000_000;
  private static final int CHAINS = 8;
  private static final int REPETITIONS = 5;

  /**
   * Measures for a few seconds; the best of several repetitions counts.
   *
   * @throws InterruptedException if the calling thread is interrupted
   */
  public static MachinePeak measure(int threads) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<float[]> memory = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        memory.add(new float[FLOATS]);
      }
      double readSeconds = Double.MAX_VALUE;
      double fmaSeconds = Double.MAX_VALUE;
      for (int i = 0; i < REPETITIONS; i++) {
        readSeconds = Math.min(readSeconds, seconds(pool, memory, MachinePeak::read));
        fmaSeconds = Math.min(fmaSeconds, seconds(pool, memory, MachinePeak::multiplyAdd));
      }
      double flops = 2.0 * FMA_ROUNDS * CHAINS * SPECIES.length() * threads;
      double bytes = (double) FLOATS * Float.BYTES * threads;
      return new MachinePeak(threads, bytes / readSeconds, flops / fmaSeconds);
    } finally {
      pool.shutdownNow();
    }
  }

  private interface Work {
    float run(float[] memory);
  }

  private static double seconds(ExecutorService pool, List<float[]> memory, Work work)
      throws InterruptedException {
    List<Callable<Float>> tasks = new ArrayList<>();
    memory.forEach(array -> tasks.add(() -> work.run(array)));
    long start = System.nanoTime();
    for (Future<Float> result : pool.invokeAll(tasks)) {
      try {
        if (Float.isNaN(result.get())) {
          throw new IllegalStateException("the peak measurement computed NaN");
        }
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      }
    }
    return (System.nanoTime() - start) * 1e-9;
  }

  private static float read(float[] memory) {
    FloatVector a = FloatVector.zero(SPECIES);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    int lanes = SPECIES.length();
    for (int i = 0; i < memory.length; i += 4 * lanes) {
      a = a.add(FloatVector.fromArray(SPECIES, memory, i));
      b = b.add(FloatVector.fromArray(SPECIES, memory, i + lanes));
      c = c.add(FloatVector.fromArray(SPECIES, memory, i + 2 * lanes));
      d = d.add(FloatVector.fromArray(SPECIES, memory, i + 3 * lanes));
    }
    return a.add(b).add(c.add(d)).lane(0);
  }

  private static float multiplyAdd(float[] memory) {
    FloatVector factor = FloatVector.broadcast(SPECIES, 0.5f);
    FloatVector a = FloatVector.broadcast(SPECIES, memory[0]);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    FloatVector e = a;
    FloatVector f = a;
    FloatVector g = a;
    FloatVector h = a;
    for (int i = 0; i < FMA_ROUNDS; i++) {
      a = a.fma(factor, factor);
      b = b.fma(factor, factor);
      c = c.fma(factor, factor);
      d = d.fma(factor, factor);
      e = e.fma(factor, factor);
      f = f.fma(factor, factor);
      g = g.fma(factor, factor);
      h = h.fma(factor, factor);
    }
    return a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h))).lane(0);
  }
}
