package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;

/**
 * The two passes of attention over pages. A score is a chain of fused multiply-adds over the
 * elements of a key, times the scale. An output is a chain over tokens in order, starting from 0,
 * times the query's factor. All implementations give the same bits.
 *
 * <p>Safe for many threads, each with its own worker number. Page tables must not change before
 * {@link #end}.
 */
public interface PageAttention {

  /** The largest number of latent heads that any implementation processes together. */
  int MOST_LATENT_HEADS = 32;

  /**
   * Returns the attention for this machine.
   *
   * @param fast native code, or null to use only Java
   * @param workers number of threads that call it at the same time
   */
  static PageAttention of(NativeKernels fast, Kernels kernels, int workers) {
    return fast != null
        ? new NativePageAttention(fast, workers)
        : new JavaPageAttention(kernels, workers);
  }

  /** The largest number of latent heads that this implementation processes together. */
  int latentHeads();

  /** Returns whether {@link #values} can compute only some of the elements. */
  boolean splits();

  /** Computes the scores of all tokens of pages {@code from} to before {@code to}. */
  void scores(HeadQueries queries, int from, int to, int worker);

  /**
   * Ends the attention of a layer, after all workers have finished. Page tables and the pool may
   * change afterwards.
   */
  default void end() {}

  /** Computes elements {@code first} to before {@code end} of the output. */
  void values(HeadQueries queries, int first, int end, int worker);
}
