package io.radixflow.engine.loop;

import io.radixflow.engine.EngineOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;

/**
 * How large the KV pool is, and what one request may use of it.
 *
 * @param pages pages of the pool
 * @param parts window parts of the pool; 0 if its pages hold the entries of all layers
 * @param pageTokens tokens per page
 * @param contextLength tokens of one request: no more than the model, the options and the pool
 *     allow
 */
record PoolSizing(int pages, int parts, int pageTokens, int contextLength) {
  /** A pool without a given size: contexts that it holds at most. */
  private static final int CONTEXTS = 4;

  /** It has at most this many times the bytes of the weights, so that it fits the model. */
  private static final int WEIGHTS = 4;

  /** Bytes that it may have however small the weights are. */
  private static final long SMALL = 256L << 20;

  /** Part of the heap that it takes at most. */
  private static final int HEAP_SHARE = 4;

  /** Returns what options say of the pool and the host memory below it. */
  static PoolRequest request(EngineOptions options) {
    return new PoolRequest(
        options.kvPages(),
        options.kvBytes(),
        options.cache().windowShare(),
        options.tiers().enabled() ? options.tiers().hostBytes() : 0);
  }

  /**
   * Returns the bytes of heap from which a pool's share is computed. This is the whole heap, or
   * less if the pool would not fit next to the present content of the heap.
   */
  static long heap(MemorySource memory) {
    MemoryStatus status = memory.now();
    // A pool takes at most three quarters of the free heap.
    if (status.left() * 3 < status.heap()) {
      status = memory.afterCollection();
    }
    return Math.min(status.heap(), Math.max(0, status.left()) * 3);
  }

  /**
   * Returns the sizes that options and backend ask for.
   *
   * @param heap bytes of the heap, for a pool in the heap without a configured size
   * @throws IllegalArgumentException if the pool cannot hold two tokens
   */
  static PoolSizing of(Backend backend, EngineOptions options, long heap) {
    int pageTokens = nearest(backend.pageTokens(), options.pageTokens());
    int context = backend.model().contextLength();
    if (options.contextLength() > 0) {
      context = Math.min(context, options.contextLength());
    }
    int window = window(backend, options, context);
    double share = options.cache().windowShare();
    int rows = Math.min(options.stepRows(), backend.maxBatchRows());
    int least = window == 0 ? 0 : leastParts(window, rows, pageTokens);
    long allBytes = pageTokens * backend.kvSpec().bytesPerToken();
    long partBytes = window == 0 ? 0 : pageTokens * backend.kvSpec().windowBytesPerToken();
    long pageBytes = allBytes - partBytes + (long) Math.ceil(share * partBytes);
    long pages = options.kvPages();
    if (pages == 0) {
      long onePerContext = (context + pageTokens - 1L) / pageTokens;
      long bytes = options.kvBytes() > 0 ? options.kvBytes() : backend.poolBytes();
      pages =
          bytes >= 0
              ? pagesWithin(bytes, allBytes - partBytes, partBytes, share, least)
              : pagesInHeap(pageBytes, onePerContext, backend.weightBytes(), heap);
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
    int parts = window == 0 ? 0 : (int) parts(pages, share, least);
    return new PoolSizing(
        (int) pages, parts, pageTokens, (int) Math.min(context, pages * pageTokens));
  }

  /**
   * Returns the window of the pool's window parts. It is 0, for a pool without parts, if there are
   * tiers and the device cannot copy parts to them, or if the window is longer than half the
   * context, where parts save too little.
   */
  private static int window(Backend backend, EngineOptions options, int context) {
    int window = backend.partedWindow();
    boolean stay = options.tiers().enabled() && !backend.movesWindowParts();
    return stay || 2L * window > context ? 0 : window;
  }

  /**
   * Window parts that one request needs: for its window, the rows of two steps, and pages that
   * these fill in part.
   */
  private static int leastParts(int window, int rows, int pageTokens) {
    return (window - 1) / pageTokens + 2 * ((rows - 1) / pageTokens + 1) + 2;
  }

  /** Window parts of a pool: a share of its pages, but enough for a request. */
  private static long parts(long pages, double share, int least) {
    return (long) Math.min(pages, Math.max(least, Math.ceil(share * pages)));
  }

  /**
   * The most pages that fit into {@code bytes} bytes with their window parts. In a small pool,
   * parts take more than their share.
   *
   * @param pageBytes bytes of a page without its part
   */
  private static long pagesWithin(
      long bytes, long pageBytes, long partBytes, double share, int least) {
    if (partBytes == 0) {
      return bytes / pageBytes;
    }
    long fitting = 0;
    long tooMany = (long) (bytes / (pageBytes + share * partBytes)) + 1;
    while (tooMany - fitting > 1) {
      long pages = fitting + (tooMany - fitting) / 2;
      double taken = (double) pages * pageBytes + (double) parts(pages, share, least) * partBytes;
      if (taken <= bytes) {
        fitting = pages;
      } else {
        tooMany = pages;
      }
    }
    return fitting;
  }

  /**
   * Pages of a pool in the heap whose size is not given: four context windows, but no more than
   * four times the weights (256 MB and one window are always allowed), nor a quarter of the heap.
   */
  static long pagesInHeap(long pageBytes, long pagesPerContext, long weightBytes, long heap) {
    long fitting = Math.max(WEIGHTS * weightBytes, SMALL) / pageBytes;
    long wanted = Math.min(CONTEXTS * pagesPerContext, Math.max(pagesPerContext, fitting));
    return Math.min(wanted, Math.max(1, heap / HEAP_SHARE / pageBytes));
  }

  /** Returns the largest supported size that is not above the wanted one, else the smallest. */
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
