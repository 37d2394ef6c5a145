package io.radixflow.engine.loop;

import io.radixflow.engine.EngineOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;

/**
 * The size of the KV pool and of one request's share.
 *
 * @param pages pages of the pool
 * @param parts window parts of the pool; 0 if its pages hold the entries of all layers
 * @param pageTokens tokens per page
 * @param contextLength most tokens of one request, limited by the model, the options and the pool
 */
record PoolSizing(int pages, int parts, int pageTokens, int contextLength) {
  /** The most contexts in a pool without a configured size. */
  private static final int CONTEXTS = 4;

  /** Such a pool has at most this many times the bytes of the weights. */
  private static final int WEIGHTS = 4;

  /** Bytes that such a pool may always have, even if the weights are small. */
  private static final long SMALL = 256L << 20;

  /** Such a pool takes at most the memory divided by this number. */
  private static final int MEMORY_SHARE = 4;

  /** Returns the configured sizes of the pool and of the host memory below it. */
  static PoolRequest request(EngineOptions options) {
    return new PoolRequest(
        options.kvPages(),
        options.kvBytes(),
        options.cache().windowShare(),
        options.tiers().enabled() ? options.tiers().hostBytes() : 0);
  }

  /**
   * Returns the bytes of memory from which a pool's share is computed: for a pool outside the heap,
   * the memory that remains even if the heap takes all it may; for a pool in the heap, the whole
   * heap, or less if the heap is already filled too much for the pool.
   */
  static long memory(Backend backend, MemorySource memory) {
    MemoryStatus status = memory.now();
    if (backend.poolIsOutsideHeap()) {
      return status.leftOutside();
    }
    // A pool takes at most three quarters of the free heap.
    if (status.left() * 3 < status.heap()) {
      status = memory.afterCollection();
    }
    return Math.min(status.heap(), Math.max(0, status.left()) * 3);
  }

  /**
   * Returns the sizes that options and backend ask for.
   *
   * @param memory see {@link #memory}, for a pool without a configured size
   * @throws IllegalArgumentException if the pool cannot hold two tokens
   */
  static PoolSizing of(Backend backend, EngineOptions options, long memory) {
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
              : defaultPages(pageBytes, onePerContext, backend.weightBytes(), memory);
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
   * Returns the window of the pool's window parts; 0 for a pool without parts. A pool has no parts
   * if there are tiers to which the device cannot copy parts. It also has no parts if the window is
   * longer than half the context, because parts would save too little.
   */
  private static int window(Backend backend, EngineOptions options, int context) {
    int window = backend.partedWindow();
    boolean stay = options.tiers().enabled() && !backend.movesWindowParts();
    return stay || 2L * window > context ? 0 : window;
  }

  /**
   * Returns the window parts that one request needs: for its window, for the rows of two steps, and
   * for partly filled pages.
   */
  private static int leastParts(int window, int rows, int pageTokens) {
    return (window - 1) / pageTokens + 2 * ((rows - 1) / pageTokens + 1) + 2;
  }

  /** Returns the window parts of a pool: a share of its pages, but enough for a request. */
  private static long parts(long pages, double share, int least) {
    return (long) Math.min(pages, Math.max(least, Math.ceil(share * pages)));
  }

  /**
   * Returns the most pages that fit into {@code bytes} bytes with their window parts. In a small
   * pool, parts take more than their share.
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
   * Returns the pages of a pool without a configured size. These are four context windows, but at
   * most four times the weights (256 MB and one window are always allowed) and at most a quarter of
   * the memory.
   */
  static long defaultPages(long pageBytes, long pagesPerContext, long weightBytes, long memory) {
    long fitting = Math.max(WEIGHTS * weightBytes, SMALL) / pageBytes;
    long wanted = Math.min(CONTEXTS * pagesPerContext, Math.max(pagesPerContext, fitting));
    return Math.min(wanted, Math.max(1, memory / MEMORY_SHARE / pageBytes));
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
