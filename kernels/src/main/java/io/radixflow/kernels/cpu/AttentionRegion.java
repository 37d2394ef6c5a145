package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.CpuKvPool.PAGE_TOKENS;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.Attention;
import io.radixflow.kernels.model.Layer;
import io.radixflow.kernels.model.ModelConfig;
import java.util.Arrays;

/**
 * Causal attention over the paged pool. A task is a block of consecutive rows of one sequence and
 * the query heads that share one KV head, so that a page is read once for all of them; heads of
 * latent attention, which all share one, are several tasks.
 *
 * <p>Each query has two passes over the positions that it sees: all scores, softmax, then values in
 * order of position. Neither depends on the block, the chunk or the pages' numbers. A page that no
 * query of a block sees is not read.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class AttentionRegion implements WorkerTeam.Region {

  /** Heads of latent attention in a task, at most. */
  private static final int LATENT_HEADS = 8;

  /** Buffers of one worker. */
  private static final class Scratch {
    final float[] lanes = new float[Kernels.LANES];
    final float[] page;
    final float[] values;
    final float[] query;
    final float[] out;
    float[] scores = new float[0];

    Scratch(int queryElements, int outElements, int pageElements, int transposedElements) {
      page = new float[pageElements];
      values = new float[transposedElements];
      query = new float[queryElements];
      out = new float[outElements];
    }
  }

  /** The properties that all tasks of a layer share. */
  private record Shape(
      int tasks, int group, int keyDim, int valueDim, int window, float scale, float softCap) {

    static Shape of(Attention attention) {
      if (attention instanceof Attention.Latent latent) {
        int group = Math.min(latent.heads(), LATENT_HEADS);
        while (latent.heads() % group != 0) {
          group--;
        }
        return new Shape(
            latent.heads() / group,
            group,
            latent.keyWidth(),
            latent.kvRank(),
            0,
            latent.scale(),
            0);
      }
      Attention.Grouped grouped = (Attention.Grouped) attention;
      return new Shape(
          grouped.kvHeads(),
          grouped.heads() / grouped.kvHeads(),
          grouped.headDim(),
          grouped.headDim(),
          grouped.window(),
          grouped.scale(),
          grouped.scores().softCap());
    }

    /** Whether values are the beginning of the keys. */
    boolean latent() {
      return valueDim < keyDim;
    }

    /** The first position that a query at this one sees. */
    int first(int position) {
      return window == 0 ? 0 : Math.max(0, position - window + 1);
    }
  }

  private final Kernels kernels;
  private final Shape[] shapes;
  private final Scratch[] scratch;

  private CpuKvPool pool;
  private StepRows rows;
  private int layer;
  private Shape shape;
  private float[] sinks;
  private float[] queries;
  private int queryStride;
  private float[] attended;
  private int attendedStride;

  AttentionRegion(ModelConfig config, Kernels kernels, int workers) {
    this.kernels = kernels;
    shapes = new Shape[config.layers()];
    int queryElements = 0;
    int outElements = 0;
    int pageElements = 0;
    int transposed = 0;
    for (int i = 0; i < shapes.length; i++) {
      Shape s = Shape.of(config.layer(i).attention());
      int queries = (rowsPerBlock(config) * s.group + QUERIES - 1) / QUERIES * QUERIES;
      queryElements = Math.max(queryElements, queries * s.keyDim);
      outElements = Math.max(outElements, queries * s.valueDim);
      pageElements = Math.max(pageElements, PAGE_TOKENS * s.keyDim);
      transposed = Math.max(transposed, s.latent() ? PAGE_TOKENS * s.valueDim : 0);
      shapes[i] = s;
    }
    scratch = new Scratch[workers];
    for (int i = 0; i < workers; i++) {
      scratch[i] = new Scratch(queryElements, outElements, pageElements, transposed);
    }
  }

  /** Rows of a block: eight, or sixteen where each query head has its own KV head. */
  static int rowsPerBlock(ModelConfig config) {
    boolean ownHeads = true;
    for (Layer layer : config.blocks()) {
      ownHeads &= layer.attention().heads() == layer.attention().kvHeads();
    }
    return ownHeads ? 4 * QUERIES : 2 * QUERIES;
  }

  /**
   * Sets the step's data; afterwards the region may run, with {@link #tasks()} tasks.
   *
   * @param sinks a logit a head, or null
   */
  void prepare(
      CpuKvPool pool,
      StepRows rows,
      int layer,
      float[] sinks,
      float[] queries,
      int queryStride,
      float[] attended,
      int attendedStride) {
    this.pool = pool;
    this.rows = rows;
    this.layer = layer;
    this.sinks = sinks;
    this.queries = queries;
    this.queryStride = queryStride;
    this.attended = attended;
    this.attendedStride = attendedStride;
    shape = shapes[layer];
  }

  int tasks() {
    return rows.blocks * shape.tasks;
  }

  @Override
  public void run(int task, int worker) {
    int block = task / shape.tasks;
    int head = task % shape.tasks;
    int first = rows.blockFirst[block];
    int count = rows.blockRows[block];
    int firstPage = shape.first(rows.position[first]) / PAGE_TOKENS;
    int pages = rows.position[first + count - 1] / PAGE_TOKENS + 1 - firstPage;
    int groups = (count * shape.group + QUERIES - 1) / QUERIES;
    Scratch s = scratch[worker];
    if (s.scores.length < groups * QUERIES * pages * PAGE_TOKENS) {
      s.scores = new float[groups * QUERIES * Math.max(pages + pages / 2, 16) * PAGE_TOKENS];
    }
    gatherQueries(s, first, count, head, groups);
    scorePages(s, rows.pages[first], firstPage, pages, head, groups);
    softmax(s, first, count, head, firstPage * PAGE_TOKENS, pages * PAGE_TOKENS);
    Arrays.fill(s.out, 0, groups * QUERIES * shape.valueDim, 0f);
    addPages(s, first, count, firstPage, pages, head, groups);
    scatter(s, first, count, head);
  }

  /** Interleaves the queries of row-major (row, head) order in groups; the last fills up. */
  private void gatherQueries(Scratch s, int first, int count, int head, int groups) {
    int group = shape.group;
    int keyDim = shape.keyDim;
    int last = count * group - 1;
    for (int q = 0; q < groups * QUERIES; q++) {
      int query = Math.min(q, last);
      int from = (first + query / group) * queryStride + (head * group + query % group) * keyDim;
      int at = q / QUERIES * QUERIES * keyDim + q % QUERIES;
      for (int d = 0; d < keyDim; d++) {
        s.query[at + d * QUERIES] = queries[from + d];
      }
    }
  }

  /** The head of the pool that a task's queries share. */
  private int poolHead(int head) {
    return shape.latent() ? 0 : head;
  }

  private void scorePages(Scratch s, int[] table, int firstPage, int pages, int head, int groups) {
    int stride = pages * PAGE_TOKENS;
    int kvHead = poolHead(head);
    for (int p = 0; p < pages; p++) {
      int page = table[firstPage + p];
      float[] keys = pool.keysArray(kernels, page, layer, kvHead, s.page);
      int at = pool.keysOffset(page, layer, kvHead);
      for (int g = 0; g < groups; g++) {
        kernels.scores(
            s.query,
            g * QUERIES * shape.keyDim,
            keys,
            at,
            shape.keyDim,
            shape.scale,
            s.scores,
            g * QUERIES * stride + p * PAGE_TOKENS,
            stride);
      }
    }
  }

  /**
   * Turns scores into weights; the inverse of each sum takes the place of the queries. Sums begin
   * at the page in which the query's window begins, so that their lanes depend on the query alone.
   *
   * @param start position of the first score
   */
  private void softmax(Scratch s, int first, int count, int head, int start, int stride) {
    int group = shape.group;
    for (int q = 0; q < count * group; q++) {
      int position = rows.position[first + q / group];
      int seen = shape.first(position);
      int from = seen / PAGE_TOKENS * PAGE_TOKENS;
      int at = q * stride + from - start;
      int tokens = position + 1 - from;
      if (shape.softCap > 0) {
        kernels.softCap(s.scores, at, tokens, shape.softCap);
      }
      Arrays.fill(s.scores, at, at + seen - from, Float.NEGATIVE_INFINITY);
      float max = kernels.max(s.scores, at, tokens, s.lanes);
      if (sinks == null) {
        s.query[q] = 1f / kernels.exponentials(s.scores, at, tokens, max, s.lanes);
      } else {
        float sink = sinks[head * group + q % group];
        max = Math.max(max, sink);
        float sum = kernels.exponentials(s.scores, at, tokens, max, s.lanes);
        s.query[q] = 1f / (sum + kernels.exp(sink - max));
      }
    }
  }

  private void addPages(
      Scratch s, int first, int count, int firstPage, int pages, int head, int groups) {
    int stride = pages * PAGE_TOKENS;
    int[] table = rows.pages[first];
    for (int p = 0; p < pages; p++) {
      int page = table[firstPage + p];
      float[] values;
      int at;
      if (shape.latent()) {
        values = transposedKeys(s, page);
        at = 0;
      } else {
        values = pool.valuesArray(kernels, page, layer, head, s.page);
        at = pool.valuesOffset(page, layer, head);
      }
      for (int g = 0; g < groups; g++) {
        addPage(s, first, count, g, values, at, firstPage * PAGE_TOKENS, p * PAGE_TOKENS, stride);
      }
    }
  }

  /** The compressed values of a page, token by token: the beginning of its keys. */
  private float[] transposedKeys(Scratch s, int page) {
    float[] keys = pool.keysArray(kernels, page, layer, 0, s.page);
    int at = pool.keysOffset(page, layer, 0);
    kernels.transpose(keys, at, shape.valueDim, s.values);
    return s.values;
  }

  /**
   * Adds the values that all queries of a group see at once, the others one by one; each query's in
   * the order of their positions.
   *
   * @param start position of the first score
   * @param page the page's first score
   */
  private void addPage(
      Scratch s,
      int first,
      int count,
      int g,
      float[] values,
      int at,
      int start,
      int page,
      int stride) {
    int last = count * shape.group - 1;
    int from = g * QUERIES;
    int end = from + QUERIES - 1;
    int sharedFrom = seenFrom(position(first, end, last) - start, page, start);
    int sharedTo = seenTo(position(first, from, last) - start, page);
    boolean shared = sharedFrom < sharedTo;
    if (shared && sharedFrom > 0) {
      for (int q = from; q <= Math.min(last, end); q++) {
        int own = seenFrom(position(first, q, last) - start, page, start);
        addOne(s, q, values, at, own, sharedFrom, page, stride);
      }
    }
    if (shared) {
      kernels.values(
          s.scores,
          from * stride + page + sharedFrom,
          stride,
          values,
          at + sharedFrom * shape.valueDim,
          shape.valueDim,
          sharedTo - sharedFrom,
          s.out,
          from * shape.valueDim);
    }
    for (int q = from; q <= Math.min(last, end); q++) {
      int position = position(first, q, last) - start;
      int next = shared ? sharedTo : seenFrom(position, page, start);
      addOne(s, q, values, at, next, seenTo(position, page), page, stride);
    }
  }

  /** Adds the values of tokens {@code from} to before {@code to} of a page for one query. */
  private void addOne(
      Scratch s, int q, float[] values, int at, int from, int to, int page, int stride) {
    if (from < to) {
      kernels.valuesOne(
          s.scores,
          q * stride + page + from,
          values,
          at + from * shape.valueDim,
          shape.valueDim,
          to - from,
          s.out,
          q * shape.valueDim);
    }
  }

  /** The first token of a page that a query sees; positions count from that of the first score. */
  private int seenFrom(int position, int page, int start) {
    return Math.max(0, shape.first(position + start) - start - page);
  }

  /** The token of a page after the last that a query sees. */
  private static int seenTo(int position, int page) {
    return Math.min(PAGE_TOKENS, position + 1 - page);
  }

  private int position(int first, int query, int last) {
    return rows.position[first + Math.min(query, last) / shape.group];
  }

  private void scatter(Scratch s, int first, int count, int head) {
    int group = shape.group;
    int valueDim = shape.valueDim;
    for (int q = 0; q < count * group; q++) {
      int to = (first + q / group) * attendedStride + (head * group + q % group) * valueDim;
      float factor = s.query[q];
      for (int d = 0; d < valueDim; d++) {
        attended[to + d] = s.out[q * valueDim + d] * factor;
      }
    }
  }
}
