package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.NativeAttention;
import java.util.Arrays;

/**
 * Attention in native code, which widens pages in registers and reads each once for all queries of
 * a tile. It checks no bounds; page tables were checked when the step was taken, and the rest is
 * computed here.
 */
final class NativePageAttention implements PageAttention {

  private static final int LATENT_HEADS = 32;

  /** Queries whose latent sums lie together: the lanes of 512 bits. */
  private static final int SUM_LANES = 16;

  private final NativeAttention attention;
  private final PageList[] lists;

  NativePageAttention(NativeAttention attention, int workers) {
    this.attention = attention;
    lists = new PageList[workers];
    for (int i = 0; i < workers; i++) {
      lists[i] = new PageList();
    }
  }

  @Override
  public int latentHeads() {
    return LATENT_HEADS;
  }

  @Override
  public boolean splits() {
    return true;
  }

  @Override
  public void scores(HeadQueries q, int from, int to, int worker) {
    PageList list = lists[worker];
    int type = q.pool.type().ordinal();
    for (int page = from; page < to; ) {
      int next = list.take(q, page, to, false);
      attention.scores(
          list.arrays,
          list.arrayCount,
          list.where,
          list.count,
          type,
          q.keyDim,
          q.queries,
          q.queryAt,
          q.count,
          q.scale,
          q.scores,
          page * CpuKvPool.PAGE_TOKENS,
          q.stride());
      page = next;
    }
    list.clear();
  }

  @Override
  public void values(HeadQueries q, int first, int end, int worker) {
    if (q.latent()) {
      latentValues(q, first, end, lists[worker]);
      return;
    }
    for (int i = 0; i < q.count; i++) {
      Arrays.fill(q.out, q.outAt[i] + first, q.outAt[i] + end, 0f);
    }
    PageList list = lists[worker];
    int type = q.pool.type().ordinal();
    for (int page = 0; page < q.pages; ) {
      int next = list.take(q, page, q.pages, true);
      int token = page * CpuKvPool.PAGE_TOKENS;
      attention.addValues(
          list.arrays,
          list.arrayCount,
          list.where,
          list.count,
          type,
          q.valueDim,
          q.scores,
          token,
          q.stride(),
          q.count,
          q.from,
          q.to,
          token,
          q.out,
          q.outAt,
          first,
          end);
      page = next;
    }
    list.clear();
    for (int i = 0; i < q.count; i++) {
      float factor = q.factor[i];
      for (int d = q.outAt[i] + first; d < q.outAt[i] + end; d++) {
        q.out[d] *= factor;
      }
    }
  }

  private void latentValues(HeadQueries q, int first, int end, PageList list) {
    int vectors = (q.count + SUM_LANES - 1) / SUM_LANES;
    for (int v = 0; v < vectors; v++) {
      int at = v * q.valueDim;
      Arrays.fill(q.latentSums, (at + first) * SUM_LANES, (at + end) * SUM_LANES, 0f);
    }
    int type = q.pool.type().ordinal();
    for (int page = 0; page < q.pages; ) {
      int next = list.take(q, page, q.pages, false);
      int token = page * CpuKvPool.PAGE_TOKENS;
      attention.addLatentValues(
          list.arrays,
          list.arrayCount,
          list.where,
          list.count,
          type,
          q.keyDim,
          q.scores,
          token,
          q.stride(),
          q.count,
          q.to,
          token,
          q.latentSums,
          q.valueDim,
          first,
          end);
      page = next;
    }
    list.clear();
    for (int i = 0; i < q.count; i++) {
      int from = i / SUM_LANES * q.valueDim * SUM_LANES + i % SUM_LANES;
      for (int d = first; d < end; d++) {
        q.out[q.outAt[i] + d] = q.latentSums[from + d * SUM_LANES] * q.factor[i];
      }
    }
  }
}
