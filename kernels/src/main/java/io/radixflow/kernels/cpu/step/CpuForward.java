package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.attention.PageAttention;
import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward;
import io.radixflow.models.ForwardOps;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The operations of the forward pass on the CPU, over the activations of one step. Row-wise
 * operations on few rows run on the calling thread, and everything else on the team.
 *
 * <p>Owned by the dispatcher. Buffers grow with the largest step so far and are reused.
 */
final class CpuForward implements ForwardOps<CpuMatrix, Floats> {

  /** The work of an element-wise region on one row. */
  @FunctionalInterface
  private interface RowOperation {
    void apply(int row, int worker);
  }

  /** With fewer elements, waking the team costs more than the work. */
  private static final int SERIAL_ELEMENTS = 8192;

  private static final int TASK_ROWS = 4;

  private final ModelConfig config;
  private final WorkerTeam team;
  private final Kernels kernels;
  private final HeadRows heads;
  private final MatmulRegion matmul;
  private final GroupedMatmul grouped;
  private final AttentionRegion attention;
  private final ExpertsStage experts;
  private final OutputStage outputs;
  private final PartTimes parts;
  private final float[][] lanes;

  private final StepRows rows;
  private CpuKvPool pool;
  private HostStepTicket ticket;

  private final int[] widths = new int[StepBuffer.values().length];
  private final Floats[] buffers = new Floats[widths.length];
  private int[] rowNumbers = new int[0];
  private int capacity;

  private CpuMatrix table;
  private int layer;
  private Floats source;
  private int sourceStride;
  private Floats target;
  private int targetStride;
  private int width;
  private float epsilon;
  private Floats gain;
  private Floats queryNorm;
  private Floats keyNorm;
  private FeedForward.Dense gating;
  private Floats sharedGate;
  private RowOperation operation;
  private final WorkerTeam.Region rowRegion = this::applyRows;
  private final RowOperation embedRow = this::embedRow;
  private final RowOperation normRow = this::normRow;
  private final RowOperation headsRow = this::headsRow;
  private final RowOperation latentRow = this::latentRow;
  private final RowOperation rotatedRow = this::rotatedRow;
  private final RowOperation gateRow = this::gateRow;
  private final RowOperation sharedRow = this::sharedRow;
  private final RowOperation addRow = this::addRow;

  /**
   * @param fast native code for products of codes, or null to use only Java; see {@link
   *     IntegerProducts}
   * @param integers whether codes are multiplied with integer activations, instead of floats
   */
  CpuForward(
      ModelConfig config,
      WorkerTeam team,
      Kernels kernels,
      NativeKernels fast,
      boolean integers,
      StepRows rows) {
    this.config = config;
    this.team = team;
    this.kernels = kernels;
    this.rows = rows;
    heads = new HeadRows(config, kernels, rows);
    IntegerProducts products =
        integers ? IntegerProducts.of(fast, kernels, TileRows.MOST, team.size()) : null;
    parts = new PartTimes(team);
    matmul = new MatmulRegion(team, kernels, products, parts);
    grouped = new GroupedMatmul(team, kernels, products, parts);
    attention =
        new AttentionRegion(config, kernels, PageAttention.of(fast, kernels, team.size()), team);
    experts = new ExpertsStage(config, team, kernels, grouped, parts);
    outputs = new OutputStage(config, team, kernels, matmul, parts);
    lanes = new float[team.size()][Kernels.LANES];
    Arrays.fill(buffers, Floats.NONE);
    for (StepBuffer buffer : StepBuffer.values()) {
      widths[buffer.ordinal()] = buffer.width(config);
    }
  }

  private int width(StepBuffer buffer) {
    return widths[buffer.ordinal()];
  }

  /** Distance between rows of a buffer in floats: the width, rounded up to whole panels. */
  private int stride(StepBuffer buffer) {
    return (width(buffer) + PANEL - 1) / PANEL * PANEL;
  }

  private Floats buffer(StepBuffer buffer) {
    return buffers[buffer.ordinal()];
  }

  /** Number of rows of the step. */
  int rows() {
    return rows.rows;
  }

  /** Number of outputs of the step. */
  int outputs() {
    return ticket.outputs();
  }

  /** The total times of parts of operations. */
  StepProfile.Phase[] parts() {
    return parts.sums();
  }

  /** Starts a step with its pool and ticket. {@link StepRows} already has its rows. */
  void begin(CpuKvPool pool, HostStepTicket ticket) {
    this.pool = pool;
    this.ticket = ticket;
    heads.ensure(rows.longest);
    if (rows.rows > capacity) {
      capacity = Math.max(rows.rows, Math.max(16, capacity * 2));
      for (StepBuffer buffer : StepBuffer.values()) {
        int size = (capacity + MatmulRegion.SPARE_ROWS) * stride(buffer);
        buffers[buffer.ordinal()] = team.memory().grown(buffer(buffer), size);
      }
      rowNumbers = new int[capacity];
      for (int i = 0; i < capacity; i++) {
        rowNumbers[i] = i;
      }
    }
  }

  private void forRows(int width, RowOperation body) {
    operation = body;
    if ((long) rows.rows * width < SERIAL_ELEMENTS) {
      for (int row = 0; row < rows.rows; row++) {
        body.apply(row, 0);
      }
      return;
    }
    team.run((rows.rows + TASK_ROWS - 1) / TASK_ROWS, rowRegion);
  }

  private void applyRows(int task, int worker) {
    int end = Math.min(rows.rows, (task + 1) * TASK_ROWS);
    for (int row = task * TASK_ROWS; row < end; row++) {
      operation.apply(row, worker);
    }
  }

  private void from(StepBuffer buffer) {
    source = buffer(buffer);
    sourceStride = stride(buffer);
    width = width(buffer);
  }

  private void to(StepBuffer buffer) {
    target = buffer(buffer);
    targetStride = stride(buffer);
  }

  @Override
  public void embed(CpuMatrix matrix) {
    table = matrix;
    to(StepBuffer.HIDDEN);
    forRows(config.hiddenSize(), embedRow);
  }

  private void embedRow(int row, int worker) {
    int at = row * targetStride;
    table.panels().row(rows.token[row], target, at);
    float scale = config.scales().embedding();
    if (scale != 1) {
      for (int i = at; i < at + config.hiddenSize(); i++) {
        target.set(i, target.get(i) * scale);
      }
    }
  }

  @Override
  public void norm(StepBuffer from, Floats weights, StepBuffer to) {
    from(from);
    to(to);
    gain = weights;
    width = weights.length();
    boolean latent = from == StepBuffer.LOW_RANK_QUERY;
    epsilon = latent ? config.norm().latentEpsilon() : config.normEpsilon();
    forRows(width, normRow);
  }

  private void normRow(int row, int worker) {
    norm(row * sourceStride, row * targetStride, lanes[worker]);
  }

  private void norm(int from, int to, float[] scratch) {
    if (!config.norm().centred()) {
      heads.norm(source, from, gain, target, to, width, epsilon, scratch);
      return;
    }
    double sum = 0;
    for (int i = from; i < from + width; i++) {
      sum += source.get(i);
    }
    float mean = (float) (sum / width);
    for (int i = 0; i < width; i++) {
      target.set(to + i, source.get(from + i) - mean);
    }
    heads.norm(target, to, gain, target, to, width, epsilon, scratch);
  }

  @Override
  public void matmul(CpuMatrix matrix, StepBuffer from, StepBuffer to) {
    matmul.multiply(matrix, buffer(from), stride(from), buffer(to), stride(to), rows.rows);
  }

  @Override
  public void ropeAndStore(int layer, Floats queryNorm, Floats keyNorm) {
    this.layer = layer;
    this.queryNorm = queryNorm;
    this.keyNorm = keyNorm;
    from(StepBuffer.QKV);
    forRows(width, headsRow);
  }

  private void headsRow(int row, int worker) {
    heads.grouped(pool, layer, row, source, row * sourceStride, queryNorm, keyNorm, lanes[worker]);
  }

  @Override
  public void ropeAndStoreLatent(int layer, Floats latentNorm) {
    this.layer = layer;
    keyNorm = latentNorm;
    from(StepBuffer.QKV);
    to(StepBuffer.LATENT);
    forRows(width, latentRow);
  }

  private void latentRow(int row, int worker) {
    heads.latent(
        pool,
        layer,
        row,
        source,
        row * sourceStride,
        target,
        row * targetStride,
        keyNorm,
        lanes[worker]);
  }

  @Override
  public void compressQueries(int layer, List<CpuMatrix> keys) {
    Latent shape = (Latent) config.layer(layer).attention();
    this.layer = layer;
    from(StepBuffer.QKV);
    to(StepBuffer.LATENT_QUERY);
    forRows(width, rotatedRow);
    forHeads(keys, shape.queryDim(), shape.keyWidth());
  }

  private void rotatedRow(int row, int worker) {
    heads.copyRotated(layer, source, row * sourceStride, target, row * targetStride);
  }

  @Override
  public void expandValues(int layer, List<CpuMatrix> values) {
    Latent shape = (Latent) config.layer(layer).attention();
    from(StepBuffer.LATENT_ATTENDED);
    to(StepBuffer.ATTENDED);
    forHeads(values, shape.kvRank(), shape.valueDim());
  }

  /** Multiplies each head of all rows with its own matrix. */
  private void forHeads(List<CpuMatrix> matrices, int inWidth, int outWidth) {
    grouped.begin(source, sourceStride, target, targetStride);
    for (int head = 0; head < matrices.size(); head++) {
      grouped.add(matrices.get(head), rowNumbers, 0, rows.rows, head * inWidth, 0, head * outWidth);
    }
    grouped.run(null);
  }

  @Override
  public void attend(int layer, Floats sinks) {
    boolean latent = config.layer(layer).attention() instanceof Latent;
    from(latent ? StepBuffer.LATENT_QUERY : StepBuffer.QKV);
    to(latent ? StepBuffer.LATENT_ATTENDED : StepBuffer.ATTENDED);
    attention.run(pool, rows, layer, sinks, source, sourceStride, target, targetStride);
  }

  @Override
  public void gate(FeedForward.Dense shape) {
    gating = shape;
    from(StepBuffer.GATE_UP);
    to(StepBuffer.GATED);
    forRows(shape.width(), gateRow);
  }

  private void gateRow(int row, int worker) {
    Gate.apply(kernels, gating, source, row * sourceStride, target, row * targetStride);
  }

  @Override
  public void experts(int layer, ExpertWeights<CpuMatrix, Floats> weights, StepBuffer from) {
    experts.run(
        (FeedForward.Experts) config.layer(layer).feedForward(),
        weights,
        rows.rows,
        buffer(StepBuffer.ROUTER),
        stride(StepBuffer.ROUTER),
        buffer(from),
        buffer(StepBuffer.DELTA),
        stride(StepBuffer.DELTA));
  }

  @Override
  public void addShared(boolean gated) {
    from(StepBuffer.SHARED);
    to(StepBuffer.DELTA);
    sharedGate = gated ? buffer(StepBuffer.SHARED_GATE) : null;
    forRows(config.hiddenSize(), sharedRow);
  }

  private void sharedRow(int row, int worker) {
    int from = row * sourceStride;
    int to = row * targetStride;
    if (sharedGate == null) {
      kernels.add(source, from, target, to, width);
      return;
    }
    float logit = sharedGate.get(row * stride(StepBuffer.SHARED_GATE));
    float weight = 1f / (kernels.exp(-logit) + 1f);
    ExpertsStage.addWeighted(weight, source, from, target, to, width);
  }

  @Override
  public void addResidual() {
    from(StepBuffer.DELTA);
    to(StepBuffer.HIDDEN);
    forRows(config.hiddenSize(), addRow);
  }

  private void addRow(int row, int worker) {
    int from = row * sourceStride;
    int to = row * targetStride;
    float scale = config.scales().residual();
    if (scale == 1) {
      kernels.add(source, from, target, to, width);
    } else {
      ExpertsStage.addWeighted(scale, source, from, target, to, width);
    }
  }

  @Override
  public void outputs(Floats weights, CpuMatrix head) {
    from(StepBuffer.HIDDEN);
    to(StepBuffer.NORMED);
    gain = weights;
    epsilon = config.normEpsilon();
    int count = ticket.outputs();
    for (int first = 0; first < count; first += OutputStage.ROWS) {
      int block = Math.min(OutputStage.ROWS, count - first);
      for (int i = 0; i < block; i++) {
        int row = ticket.batch().outputRow(first + i);
        norm(row * sourceStride, i * targetStride, lanes[0]);
      }
      outputs.run(ticket, first, block, head, target, targetStride);
    }
  }
}
