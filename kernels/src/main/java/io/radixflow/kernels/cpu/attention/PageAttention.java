package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;

/**
 * The two passes of attention over pages. Each score is a chain of fused multiply-adds over the
 * elements of a key, times the scale; each output a chain over tokens in order, from 0, times the
 * query's factor. All implementations give the same bits.
 *
 * <p>Safe for many threads, each with a worker number of its own; page tables stay as they are
 * until {@link #end}.
 */
public interface PageAttention {

  /** Heads of latent attention that any implementation treats together, at most. */
  int MOST_LATENT_HEADS = 32;

  /**
   * The attention of this machine.
   *
   * @param fast native code, or null for Java
   * @param workers how many threads attend at once
   */
  static PageAttention of(NativeKernels fast, Kernels kernels, int workers) {
    return fast != null
        ? new NativePageAttention(fast, workers)
        : new JavaPageAttention(kernels, workers);
  }

  /** Heads of latent attention that are treated together, at most. */
  int latentHeads();

  /** Whether {@link #values} may be called for some of the elements. */
  boolean splits();

  /** Computes the scores of all tokens of pages {@code from} to before {@code to}. */
  void scores(HeadQueries queries, int from, int to, int worker);

  /** Ends a layer's attention, when no worker is at it: page tables and the pool may change now. */
  default void end() {}

  /** Computes elements {@code first} to before {@code end} of the output. */
  void values(HeadQueries queries, int first, int end, int worker);
}
