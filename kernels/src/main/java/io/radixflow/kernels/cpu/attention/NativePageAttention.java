package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.NativeKernels;

/**
 * Attention in native code ({@code src/main/c/attention.c}). It widens pages in registers and reads
 * each page once for all queries of a tile. The native code checks nothing: {@code StepRows}
 * checked the page tables, and everything else is computed here.
 */
final class NativePageAttention implements PageAttention {

  /** Number of queries whose latent sums are stored together: the lanes of 512 bits. */
  private static final int SUM_LANES = 16;

  private final int isa;
  private final PageList[] lists;

  NativePageAttention(NativeKernels kernels, int workers) {
    isa = kernels.isaNumber();
    lists = new PageList[workers];
    for (int i = 0; i < workers; i++) {
      lists[i] = new PageList();
    }
  }

  @Override
  public int latentHeads() {
    return MOST_LATENT_HEADS;
  }

  @Override
  public boolean splits() {
    return true;
  }

  @Override
  public void end() {
    for (PageList pages : lists) {
      pages.clear();
    }
  }

  @Override
  public void scores(HeadQueries q, int from, int to, int worker) {
    PageList pages = lists[worker];
    for (int page = from; page < to; page += pages.count) {
      pages.take(q, page, to);
      scores(
          isa,
          pages.addresses,
          pages.count,
          q.pool.type().ordinal(),
          q.keyDim,
          q.pool.keysByte(q.layer, q.kvHead),
          q.queries.address(0, 0),
          q.queryAt,
          q.count,
          q.scale,
          q.scores.address(page * CpuKvPool.PAGE_TOKENS, 0),
          q.stride());
    }
  }

  /**
   * Computes scores: element (query, token) at {@code out[query * stride + token]}.
   *
   * @param pages the addresses of a {@link PageList}
   * @param type of the elements; the ordinal of a {@link KvSlabs.Type}
   * @param width elements per key
   * @param keys offset of the keys in a page, in bytes
   * @param queryAt index of the first element of each query
   */
  private static native void scores(
      int isa,
      long[] pages,
      int pageCount,
      int type,
      int width,
      long keys,
      long queries,
      int[] queryAt,
      int count,
      float scale,
      long out,
      int stride);

  @Override
  public void values(HeadQueries q, int first, int end, int worker) {
    if (q.latent()) {
      clearLatentSums(q, first, end);
      addAll(q, first, end, lists[worker]);
      takeLatentSums(q, first, end);
      return;
    }
    for (int i = 0; i < q.count; i++) {
      q.out.fill(q.outAt[i] + first, q.outAt[i] + end, 0f);
    }
    addAll(q, first, end, lists[worker]);
    for (int i = 0; i < q.count; i++) {
      float factor = q.factor[i];
      for (int d = q.outAt[i] + first; d < q.outAt[i] + end; d++) {
        q.out.set(d, q.out.get(d) * factor);
      }
    }
  }

  /** Adds the values of all pages to the output or to the latent sums. */
  private void addAll(HeadQueries q, int first, int end, PageList pages) {
    int type = q.pool.type().ordinal();
    int stride = q.stride();
    for (int page = 0; page < q.pages; page += pages.count) {
      pages.take(q, page, q.pages);
      long[] list = pages.addresses;
      int count = pages.count;
      int token = page * CpuKvPool.PAGE_TOKENS;
      long weights = q.scores.address(token, 0);
      if (q.latent()) {
        long keys = q.pool.keysByte(q.layer, q.kvHead);
        long sums = q.latentSums.address(0, 0);
        addLatentValues(
            isa,
            list,
            count,
            type,
            q.keyDim,
            keys,
            weights,
            token,
            stride,
            q.count,
            q.to,
            sums,
            q.valueDim,
            first,
            end);
      } else {
        long values = q.pool.valuesByte(q.layer, q.kvHead);
        long out = q.out.address(0, 0);
        addValues(
            isa,
            list,
            count,
            type,
            q.valueDim,
            values,
            weights,
            token,
            stride,
            q.count,
            q.from,
            q.to,
            out,
            q.outAt,
            first,
            end);
      }
    }
  }

  /**
   * Adds weighted values to elements {@code first} to before {@code end} of the outputs. The pages
   * are given like in {@link #scores}.
   *
   * @param weights element (query, token of the pages) at {@code query * stride + token}
   * @param token the number of the pages' first token
   * @param from the first token that each query sees
   * @param to the token after the last that each query sees
   * @param outAt index of the first element of each query's output
   */
  private static native void addValues(
      int isa,
      long[] pages,
      int pageCount,
      int type,
      int width,
      long values,
      long weights,
      int token,
      int stride,
      int count,
      int[] from,
      int[] to,
      long out,
      int[] outAt,
      int first,
      int end);

  /**
   * Like {@link #addValues}, for latent values, which are the first {@code elements} elements of
   * keys.
   *
   * @param sums element d of query q is at {@code (q / 16 * elements + d) * 16 + q % 16}
   */
  private static native void addLatentValues(
      int isa,
      long[] pages,
      int pageCount,
      int type,
      int width,
      long keys,
      long weights,
      int token,
      int stride,
      int count,
      int[] to,
      long sums,
      int elements,
      int first,
      int end);

  private static void clearLatentSums(HeadQueries q, int first, int end) {
    int vectors = (q.count + SUM_LANES - 1) / SUM_LANES;
    for (int v = 0; v < vectors; v++) {
      int at = v * q.valueDim;
      q.latentSums.fill((at + first) * SUM_LANES, (at + end) * SUM_LANES, 0f);
    }
  }

  private static void takeLatentSums(HeadQueries q, int first, int end) {
    for (int i = 0; i < q.count; i++) {
      int from = i / SUM_LANES * q.valueDim * SUM_LANES + i % SUM_LANES;
      for (int d = first; d < end; d++) {
        q.out.set(q.outAt[i] + d, q.latentSums.get(from + d * SUM_LANES) * q.factor[i]);
      }
    }
  }
}
