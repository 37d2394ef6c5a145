package io.radixflow.kernels.cpu.attention;

import static io.radixflow.kernels.cpu.attention.CpuKvPool.PAGE_TOKENS;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

import io.radixflow.kernels.cpu.kernel.Kernels;
import java.util.Arrays;

/**
 * Attention in Java. Each page is widened to floats once for all queries, which are processed four
 * at a time.
 */
final class JavaPageAttention implements PageAttention {

  private static final int LATENT_HEADS = 8;

  /** Buffers of one worker. They grow. */
  private static final class Scratch {
    float[] page = new float[0];
    float[] values = new float[0];
    float[] query = new float[0];
    float[] out = new float[0];

    void ensure(HeadQueries q, int groups) {
      if (page.length < PAGE_TOKENS * q.keyDim) {
        page = new float[PAGE_TOKENS * q.keyDim];
        values = new float[PAGE_TOKENS * q.keyDim];
      }
      if (query.length < groups * QUERIES * q.keyDim) {
        query = new float[groups * QUERIES * q.keyDim];
        out = new float[groups * QUERIES * q.keyDim];
      }
    }
  }

  private final Kernels kernels;
  private final Scratch[] scratch;

  JavaPageAttention(Kernels kernels, int workers) {
    this.kernels = kernels;
    scratch = new Scratch[workers];
    for (int i = 0; i < workers; i++) {
      scratch[i] = new Scratch();
    }
  }

  @Override
  public int latentHeads() {
    return LATENT_HEADS;
  }

  @Override
  public boolean splits() {
    return false;
  }

  private static int groups(HeadQueries q) {
    return (q.count + QUERIES - 1) / QUERIES;
  }

  @Override
  public void scores(HeadQueries q, int from, int to, int worker) {
    Scratch s = scratch[worker];
    int groups = groups(q);
    s.ensure(q, groups);
    gather(s, q, groups);
    for (int p = from; p < to; p++) {
      int page = q.table[q.firstPage + p];
      q.pool.readKeys(page, q.layer, q.kvHead, s.page);
      for (int g = 0; g < groups; g++) {
        kernels.scores(
            s.query,
            g * QUERIES * q.keyDim,
            s.page,
            0,
            q.keyDim,
            q.scale,
            q.scores,
            g * QUERIES * q.stride() + p * PAGE_TOKENS,
            q.stride());
      }
    }
  }

  /** Interleaves the queries in groups. The last query is repeated to fill the last group. */
  private static void gather(Scratch s, HeadQueries q, int groups) {
    for (int i = 0; i < groups * QUERIES; i++) {
      int from = q.queryAt[Math.min(i, q.count - 1)];
      int at = i / QUERIES * QUERIES * q.keyDim + i % QUERIES;
      for (int d = 0; d < q.keyDim; d++) {
        s.query[at + d * QUERIES] = q.queries.get(from + d);
      }
    }
  }

  @Override
  public void values(HeadQueries q, int first, int end, int worker) {
    Scratch s = scratch[worker];
    int groups = groups(q);
    s.ensure(q, groups);
    Arrays.fill(s.out, 0, groups * QUERIES * q.valueDim, 0f);
    for (int p = 0; p < q.pages; p++) {
      int page = q.table[q.firstPage + p];
      float[] values = s.page;
      if (q.latent()) {
        // The compressed values of a page are the beginning of its keys.
        q.pool.readKeys(page, q.layer, 0, s.page);
        kernels.transpose(s.page, 0, q.valueDim, s.values);
        values = s.values;
      } else {
        q.pool.readValues(page, q.layer, q.kvHead, s.page);
      }
      for (int g = 0; g < groups; g++) {
        addPage(s, q, g, values, p * PAGE_TOKENS);
      }
    }
    for (int i = 0; i < q.count; i++) {
      for (int d = 0; d < q.valueDim; d++) {
        q.out.set(q.outAt[i] + d, s.out[i * q.valueDim + d] * q.factor[i]);
      }
    }
  }

  /**
   * Adds the values of a page for a group of queries. Values that all queries see are added
   * together, the others query by query. Each query adds its values in the order of positions.
   *
   * @param page the page's first token
   */
  private void addPage(Scratch s, HeadQueries q, int g, float[] values, int page) {
    int from = g * QUERIES;
    int last = Math.min(q.count, from + QUERIES) - 1;
    // Rows are in the order of positions, so the last query starts latest and the first one ends
    // earliest.
    int sharedFrom = Math.max(0, q.from[last] - page);
    int sharedTo = Math.min(PAGE_TOKENS, q.to[from] - page);
    boolean shared = sharedFrom < sharedTo;
    if (shared) {
      for (int i = from; i <= last; i++) {
        addOne(s, q, i, values, Math.max(0, q.from[i] - page), sharedFrom, page);
      }
      kernels.values(
          q.scores,
          from * q.stride() + page + sharedFrom,
          q.stride(),
          values,
          sharedFrom * q.valueDim,
          q.valueDim,
          sharedTo - sharedFrom,
          s.out,
          from * q.valueDim);
    }
    for (int i = from; i <= last; i++) {
      int next = shared ? sharedTo : Math.max(0, q.from[i] - page);
      addOne(s, q, i, values, next, Math.min(PAGE_TOKENS, q.to[i] - page), page);
    }
  }

  /** Adds the values of tokens {@code from} to before {@code to} of a page for one query. */
  private void addOne(
      Scratch s, HeadQueries q, int query, float[] values, int from, int to, int page) {
    if (from < to) {
      kernels.valuesOne(
          q.scores,
          query * q.stride() + page + from,
          values,
          from * q.valueDim,
          q.valueDim,
          to - from,
          s.out,
          query * q.valueDim);
    }
  }
}
