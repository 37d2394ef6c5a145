package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.KernelWarmUp;
import io.radixflow.kernels.cpu.kernel.KernelWarmUp.Use;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Chooses the number of rows per tile. The best number depends on registers, vector width and JDK:
 * six rows do not fit into the registers of one machine, and four are too few for another. So each
 * shape is timed once per process, after {@link KernelWarmUp}, for about 100 ms in all; but only if
 * any products are computed in Java. Results do not depend on the shape.
 */
public final class TileTuner {

  /** Rows of the largest tile. */
  public static final int MOST_ROWS = 8;

  private static final int[] SHAPES = {2, 4, 6, 8};
  private static final long WARM_UP_NANOS = 12_000_000;
  private static final int ROUNDS = 8;
  private static final int CALLS = 200;

  private static final Map<String, TileTuner> CACHE = new ConcurrentHashMap<>();

  private final double[] nanos;

  private TileTuner(double[] nanos) {
    this.nanos = nanos;
  }

  /**
   * Returns the tuner for these kernels and their use. The first call runs and times the kernels.
   */
  public static TileTuner of(Kernels kernels, Use use) {
    return CACHE.computeIfAbsent(
        kernels.name() + " " + use, key -> new TileTuner(measure(kernels, use)));
  }

  /**
   * Starts to make the tuner on a thread of its own, unless there is one, so that {@link #of} waits
   * less. Other work that runs meanwhile may lead to a slightly slower choice.
   */
  public static void begin(Kernels kernels, Use use) {
    if (!CACHE.containsKey(kernels.name() + " " + use)) {
      Thread thread = new Thread(() -> of(kernels, use), "radixflow-warm-up");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static double[] measure(Kernels kernels, Use use) {
    double[] nanos = new double[SHAPES.length];
    boolean fast = kernels.vectorBits() >= 64 && Fma.HARDWARE;
    if (fast) {
      KernelWarmUp.run(kernels, use);
    }
    if (!fast || use == Use.ROWS) {
      for (int i = 0; i < SHAPES.length; i++) {
        nanos[i] = SHAPES[i];
      }
      return nanos;
    }
    float[] a = new float[MOST_ROWS * Panels.DEPTH];
    float[] w = new float[Kernels.PANEL * Panels.DEPTH];
    float[] c = new float[MOST_ROWS * Kernels.PANEL];
    Arrays.fill(nanos, Double.MAX_VALUE);
    for (int i = 0; i < SHAPES.length; i++) {
      for (long end = System.nanoTime() + WARM_UP_NANOS; System.nanoTime() < end; ) {
        time(kernels, SHAPES[i], a, w, c);
      }
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < SHAPES.length; i++) {
        nanos[i] = Math.min(nanos[i], time(kernels, SHAPES[i], a, w, c));
      }
    }
    return nanos;
  }

  private static double time(Kernels kernels, int rows, float[] a, float[] w, float[] c) {
    long start = System.nanoTime();
    for (int call = 0; call < CALLS; call++) {
      kernels.tile(rows, a, 0, w, 0, Panels.DEPTH, c, 0, Kernels.PANEL);
    }
    return (System.nanoTime() - start) / (double) CALLS;
  }

  /** The number of rows per tile that computes {@code rows} rows in the least time. */
  public int tileRows(int rows) {
    int best = 0;
    double least = Double.MAX_VALUE;
    for (int i = 0; i < SHAPES.length; i++) {
      double total = (rows + SHAPES[i] - 1) / SHAPES[i] * nanos[i];
      if (total <= least) {
        least = total;
        best = SHAPES[i];
      }
    }
    return best;
  }
}
