package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Backend;

/**
 * How large the KV pool is, and what one request may use of it.
 *
 * @param pages pages of the pool
 * @param pageTokens tokens a page
 * @param contextLength tokens of one request: no more than the model, the options and the pool
 *     allow
 */
record PoolSizing(int pages, int pageTokens, int contextLength) {
  private static final int CONTEXTS = 4;

  /**
   * @param heap bytes of the heap, of which a pool in it without a given size takes a quarter at
   *     most
   * @throws IllegalArgumentException if the pool cannot hold two tokens
   */
  static PoolSizing of(Backend backend, EngineOptions options, long heap) {
    int pageTokens = nearest(backend.pageTokens(), options.pageTokens());
    int context = backend.model().contextLength();
    if (options.contextLength() > 0) {
      context = Math.min(context, options.contextLength());
    }
    long pageBytes = pageTokens * backend.kvSpec().bytesPerToken();
    long pages = options.kvPages();
    if (pages == 0) {
      long onePerContext = (context + pageTokens - 1L) / pageTokens;
      long bytes = options.kvBytes() > 0 ? options.kvBytes() : backend.poolBytes();
      pages =
          bytes >= 0
              ? bytes / pageBytes
              : Math.min(CONTEXTS * onePerContext, Math.max(1, heap / 4 / pageBytes));
    }
    pages = Math.min(pages, Integer.MAX_VALUE / pageTokens);
    if (pages * pageTokens < 2) {
      throw new IllegalArgumentException(
          "the KV pool of "
              + Math.max(options.kvBytes(), backend.poolBytes())
              + " bytes holds "
              + pages
              + " pages of "
              + pageBytes
              + " bytes; give it more memory");
    }
    return new PoolSizing((int) pages, pageTokens, (int) Math.min(context, pages * pageTokens));
  }

  /** The largest supported size that is not above the wanted one, else the smallest. */
  private static int nearest(int[] supported, int wanted) {
    int best = supported[0];
    for (int size : supported) {
      if (size <= wanted) {
        best = size;
      }
    }
    return best;
  }
}
