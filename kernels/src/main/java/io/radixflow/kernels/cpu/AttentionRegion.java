package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.CpuKvPool.PAGE_TOKENS;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.ModelConfig;
import java.util.Arrays;

/**
 * Causal attention over the paged pool. A task is a block of consecutive rows of one sequence and
 * one KV head, with all query heads that share it, so that a page is read once for all of them.
 *
 * <p>Each query has two passes over its own positions: all scores, softmax, then values in order of
 * position. Neither depends on the block, the chunk or the pages' numbers.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class AttentionRegion implements WorkerTeam.Region {

  /** Buffers of one worker. */
  private static final class Scratch {
    final float[] lanes = new float[Kernels.LANES];
    final float[] page;
    final float[] query;
    final float[] out;
    float[] scores = new float[0];

    Scratch(int queries, int headDim, int pageFloats) {
      page = new float[pageFloats];
      query = new float[queries * headDim];
      out = new float[queries * headDim];
    }
  }

  private final Kernels kernels;
  private final int headDim;
  private final int kvHeads;
  private final int group;
  private final float scale;
  private final Scratch[] scratch;

  private CpuKvPool pool;
  private StepRows rows;
  private int layer;
  private float[] qkv;
  private int qkvStride;
  private float[] attended;
  private int attendedStride;

  AttentionRegion(ModelConfig config, Kernels kernels, int workers) {
    this.kernels = kernels;
    headDim = config.headDim();
    kvHeads = config.kvHeads();
    group = config.heads() / config.kvHeads();
    scale = (float) (1 / Math.sqrt(headDim));
    int queries = (rowsPerBlock(config) * group + QUERIES - 1) / QUERIES * QUERIES;
    scratch = new Scratch[workers];
    for (int i = 0; i < workers; i++) {
      scratch[i] = new Scratch(queries, headDim, PAGE_TOKENS * headDim);
    }
  }

  /** Rows of a block: four, or eight where each query head has its own KV head. */
  static int rowsPerBlock(ModelConfig config) {
    return config.heads() == config.kvHeads() ? 2 * QUERIES : QUERIES;
  }

  /** Sets the step's data; afterwards the region may run, with {@link #tasks()} tasks. */
  void prepare(
      CpuKvPool pool,
      StepRows rows,
      int layer,
      float[] qkv,
      int qkvStride,
      float[] attended,
      int attendedStride) {
    this.pool = pool;
    this.rows = rows;
    this.layer = layer;
    this.qkv = qkv;
    this.qkvStride = qkvStride;
    this.attended = attended;
    this.attendedStride = attendedStride;
  }

  int tasks() {
    return rows.blocks * kvHeads;
  }

  @Override
  public void run(int task, int worker) {
    int block = task / kvHeads;
    int kvHead = task % kvHeads;
    int first = rows.blockFirst[block];
    int count = rows.blockRows[block];
    int tokens = rows.position[first + count - 1] + 1;
    int pages = (tokens + PAGE_TOKENS - 1) / PAGE_TOKENS;
    int groups = (count * group + QUERIES - 1) / QUERIES;
    Scratch s = scratch[worker];
    if (s.scores.length < groups * QUERIES * pages * PAGE_TOKENS) {
      s.scores = new float[groups * QUERIES * Math.max(pages + pages / 2, 16) * PAGE_TOKENS];
    }
    gatherQueries(s, first, count, kvHead, groups);
    scorePages(s, rows.pages[first], pages, kvHead, groups);
    softmax(s, first, count, pages * PAGE_TOKENS);
    Arrays.fill(s.out, 0, groups * QUERIES * headDim, 0f);
    addPages(s, first, count, pages, kvHead, groups);
    scatter(s, first, count, kvHead);
  }

  /** Interleaves the queries of row-major (row, head) order in groups; the last fills up. */
  private void gatherQueries(Scratch s, int first, int count, int kvHead, int groups) {
    int last = count * group - 1;
    for (int q = 0; q < groups * QUERIES; q++) {
      int query = Math.min(q, last);
      int from = (first + query / group) * qkvStride + (kvHead * group + query % group) * headDim;
      int at = q / QUERIES * QUERIES * headDim + q % QUERIES;
      for (int d = 0; d < headDim; d++) {
        s.query[at + d * QUERIES] = qkv[from + d];
      }
    }
  }

  private void scorePages(Scratch s, int[] table, int pages, int kvHead, int groups) {
    int stride = pages * PAGE_TOKENS;
    for (int p = 0; p < pages; p++) {
      float[] keys = pool.keysArray(kernels, table[p], layer, kvHead, s.page);
      int at = pool.keysOffset(table[p], layer, kvHead);
      for (int g = 0; g < groups; g++) {
        kernels.scores(
            s.query,
            g * QUERIES * headDim,
            keys,
            at,
            headDim,
            scale,
            s.scores,
            g * QUERIES * stride + p * PAGE_TOKENS,
            stride);
      }
    }
  }

  /** Turns scores into weights; the inverse of each sum takes the place of the queries. */
  private void softmax(Scratch s, int first, int count, int stride) {
    for (int q = 0; q < count * group; q++) {
      int tokens = rows.position[first + q / group] + 1;
      float max = kernels.max(s.scores, q * stride, tokens, s.lanes);
      s.query[q] = 1f / kernels.exponentials(s.scores, q * stride, tokens, max, s.lanes);
    }
  }

  private void addPages(Scratch s, int first, int count, int pages, int kvHead, int groups) {
    int stride = pages * PAGE_TOKENS;
    int[] table = rows.pages[first];
    for (int p = 0; p < pages; p++) {
      float[] values = pool.valuesArray(kernels, table[p], layer, kvHead, s.page);
      int at = pool.valuesOffset(table[p], layer, kvHead);
      for (int g = 0; g < groups; g++) {
        addPage(s, first, count, g, values, at, p * PAGE_TOKENS, stride);
      }
    }
  }

  /** Adds the values that all queries of a group see at once, the others one by one. */
  private void addPage(
      Scratch s, int first, int count, int g, float[] values, int at, int start, int stride) {
    int last = count * group - 1;
    int shared = Math.min(PAGE_TOKENS, position(first, g * QUERIES, last) + 1 - start);
    if (shared > 0) {
      int weights = g * QUERIES * stride + start;
      kernels.values(
          s.scores, weights, stride, values, at, headDim, shared, s.out, g * QUERIES * headDim);
    }
    int from = Math.max(0, shared);
    for (int q = g * QUERIES; q <= Math.min(last, g * QUERIES + QUERIES - 1); q++) {
      int tokens = Math.min(PAGE_TOKENS, position(first, q, last) + 1 - start) - from;
      if (tokens > 0) {
        int weights = q * stride + start + from;
        kernels.valuesOne(
            s.scores, weights, values, at + from * headDim, headDim, tokens, s.out, q * headDim);
      }
    }
  }

  private int position(int first, int query, int last) {
    return rows.position[first + Math.min(query, last) / group];
  }

  private void scatter(Scratch s, int first, int count, int kvHead) {
    for (int q = 0; q < count * group; q++) {
      int to = (first + q / group) * attendedStride + (kvHead * group + q % group) * headDim;
      float factor = s.query[q];
      for (int d = 0; d < headDim; d++) {
        attended[to + d] = s.out[q * headDim + d] * factor;
      }
    }
  }
}
