package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.attention.CpuKvPool.PAGE_TOKENS;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.attention.HeadQueries;
import io.radixflow.kernels.cpu.attention.PageAttention;
import io.radixflow.kernels.cpu.attention.ScoreRoom;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.Attention;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;

/**
 * Causal attention over the paged pool. A unit of work is a block of consecutive rows of one
 * sequence and the query heads that share one KV head, so each page is read once for all of them.
 * In latent attention all heads share one KV head, and they may be split into several units.
 *
 * <p>Each query makes two passes over the positions that it sees: all scores and the softmax, then
 * the values in the order of positions. The result does not depend on the block, the chunk or the
 * numbers of the pages. A page that no query of a block sees is not read. If there are too few
 * units for the team, workers share each unit: pages of its scores, queries of its softmax,
 * elements of its values. Every output is still computed in the same order.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class AttentionRegion {

  /** Workers share units if there are fewer than this number of units per worker. */
  private static final int FEW = 4;

  /** From this number of positions on, sharing a unit is worth the cost of two more regions. */
  private static final int LONG = 256;

  /** Fewest elements of values per worker: one cache line of binary16. */
  private static final int ELEMENTS = 32;

  /** The properties that all units of a layer share. */
  private record Shape(
      int units, int group, int keyDim, int valueDim, int window, float scale, float softCap) {

    static Shape of(Attention attention, int latentHeads) {
      if (attention instanceof Attention.Latent latent) {
        int group = Math.min(latent.heads(), latentHeads);
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

    /** Returns whether values are the beginning of the keys. */
    boolean latent() {
      return valueDim < keyDim;
    }

    /** The first position that a query at {@code position} sees. */
    int first(int position) {
      return window == 0 ? 0 : Math.max(0, position - window + 1);
    }
  }

  private final Kernels kernels;
  private final PageAttention attention;
  private final WorkerTeam team;
  private final Shape[] shapes;
  private final ScoreRoom room;
  private final float[][] lanes;

  /** One element per worker if units are not shared, else one per unit. */
  private HeadQueries[] units;

  private final WorkerTeam.Region wholeUnit = this::runUnit;
  private final WorkerTeam.Region someScores = this::runScores;
  private final WorkerTeam.Region someWeights = this::runWeights;
  private final WorkerTeam.Region someValues = this::runValues;

  private CpuKvPool pool;
  private StepRows rows;
  private int layer;
  private Shape shape;
  private Floats sinks;
  private Floats queries;
  private int queryStride;
  private Floats attended;
  private int attendedStride;
  private int parts;

  AttentionRegion(ModelConfig config, Kernels kernels, PageAttention attention, WorkerTeam team) {
    this.kernels = kernels;
    this.attention = attention;
    this.team = team;
    shapes = new Shape[config.layers()];
    for (int i = 0; i < shapes.length; i++) {
      shapes[i] = Shape.of(config.layer(i).attention(), attention.latentHeads());
    }
    room = room(config);
    lanes = new float[team.size()][Kernels.LANES];
    units = new HeadQueries[FEW * team.size()];
    for (int i = 0; i < units.length; i++) {
      units[i] = new HeadQueries(team.memory());
    }
  }

  /**
   * Room for the scores of eight rows, or of sixteen rows if each query head has its own KV head.
   */
  static ScoreRoom room(ModelConfig config) {
    boolean ownHeads = true;
    int queries = 1;
    for (Layer layer : config.blocks()) {
      Attention attention = layer.attention();
      ownHeads &= attention.heads() == attention.kvHeads();
      queries = Math.max(queries, Shape.of(attention, PageAttention.MOST_LATENT_HEADS).group);
    }
    return new ScoreRoom(queries, ownHeads ? 4 * QUERIES : 2 * QUERIES);
  }

  /**
   * The largest number of scores that all workers keep together: one array per worker for whole
   * units, and as much again for shared units.
   *
   * @param tokens length of the longest sequence
   */
  static long scores(ModelConfig config, int workers, int tokens) {
    return 2L * workers * ScoreRoom.withRoomToGrow(room(config).scores(tokens));
  }

  /**
   * Computes a layer's attention for all rows of the step.
   *
   * @param sinks one logit per head, or null
   */
  void run(
      CpuKvPool pool,
      StepRows rows,
      int layer,
      Floats sinks,
      Floats queries,
      int queryStride,
      Floats attended,
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
    int count = rows.blocks * shape.units;
    try {
      if (isShared(count)) {
        runShared(count);
      } else {
        team.run(count, wholeUnit);
      }
    } finally {
      attention.end();
    }
  }

  /**
   * Returns whether workers share units: if units are few and long, and sharing needs no more
   * memory.
   */
  private boolean isShared(int count) {
    if (!attention.splits() || count >= units.length || rows.longest < LONG || team.size() == 1) {
      return false;
    }
    int mostRows = 1;
    for (int block = 0; block < rows.blocks; block++) {
      mostRows = Math.max(mostRows, rows.blockRows[block]);
    }
    long scores = (long) count * mostRows * shape.group * rows.longest;
    return scores <= team.size() * room.scores(rows.longest);
  }

  private void runShared(int count) {
    for (int unit = 0; unit < count; unit++) {
      begin(units[unit], unit);
    }
    parts = (units.length + count - 1) / count;
    team.run(count * parts, someScores);
    team.run(count * parts, someWeights);
    team.run(count * parts, someValues);
  }

  private void runUnit(int unit, int worker) {
    HeadQueries q = units[worker];
    begin(q, unit);
    attention.scores(q, 0, q.pages, worker);
    softmax(q, unit, 0, q.count, lanes[worker]);
    attention.values(q, 0, shape.valueDim, worker);
  }

  private void runScores(int task, int worker) {
    HeadQueries q = units[task / parts];
    int part = task % parts;
    attention.scores(q, q.pages * part / parts, q.pages * (part + 1) / parts, worker);
  }

  private void runWeights(int task, int worker) {
    HeadQueries q = units[task / parts];
    int part = task % parts;
    int from = q.count * part / parts;
    softmax(q, task / parts, from, q.count * (part + 1) / parts, lanes[worker]);
  }

  private void runValues(int task, int worker) {
    int part = task % parts;
    int width = (shape.valueDim + parts - 1) / parts;
    width = (width + ELEMENTS - 1) / ELEMENTS * ELEMENTS;
    int end = Math.min(shape.valueDim, (part + 1) * width);
    if (part * width < end) {
      attention.values(units[task / parts], part * width, end, worker);
    }
  }

  /** The first head of a unit's queries. */
  private int firstHead(int unit) {
    return unit % shape.units * shape.group;
  }

  private void begin(HeadQueries q, int unit) {
    int block = unit / shape.units;
    int first = rows.blockFirst[block];
    int count = rows.blockRows[block];
    q.pool = pool;
    q.layer = layer;
    q.kvHead = shape.latent() ? 0 : unit % shape.units;
    q.table = rows.pages[first];
    q.firstPage = shape.first(rows.position[first]) / PAGE_TOKENS;
    q.pages = rows.position[first + count - 1] / PAGE_TOKENS + 1 - q.firstPage;
    q.keyDim = shape.keyDim;
    q.valueDim = shape.valueDim;
    q.scale = shape.scale;
    q.queries = queries;
    q.out = attended;
    q.count = count * shape.group;
    q.ensure(q.count, q.pages);
    int start = q.firstPage * PAGE_TOKENS;
    for (int i = 0; i < q.count; i++) {
      int row = first + i / shape.group;
      int head = firstHead(unit) + i % shape.group;
      q.queryAt[i] = row * queryStride + head * shape.keyDim;
      q.outAt[i] = row * attendedStride + head * shape.valueDim;
      q.from[i] = shape.first(rows.position[row]) - start;
      q.to[i] = rows.position[row] + 1 - start;
    }
  }

  private void softmax(HeadQueries q, int unit, int first, int end, float[] lanes) {
    kernels.softmax(
        q.scores,
        q.stride(),
        q.from,
        q.to,
        first,
        end,
        shape.softCap,
        sinks,
        firstHead(unit),
        shape.group,
        q.factor,
        lanes);
  }
}
