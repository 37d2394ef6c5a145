package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.kernels.model.Activation;
import io.radixflow.kernels.model.ForwardOps;
import io.radixflow.kernels.model.ModelConfig;
import java.util.EnumMap;
import java.util.Map;

/**
 * The operations of the forward pass on the CPU, over the activations of one step. Row-wise
 * operations of few rows run on the calling thread, everything else on the team.
 *
 * <p>Owned by the dispatcher; buffers grow with the largest step seen and are reused.
 */
final class CpuForward implements ForwardOps<CpuMatrix, float[]> {

  /** The work of an element-wise region on one row. */
  @FunctionalInterface
  private interface RowOperation {
    void apply(int row, int worker);
  }

  /** Elements below which waking the team costs more than the work. */
  private static final int SERIAL_ELEMENTS = 8192;

  private static final int TASK_ROWS = 4;

  private final ModelConfig config;
  private final WorkerTeam team;
  private final Kernels kernels;
  private final RopeTable rope;
  private final MatmulRegion matmul;
  private final AttentionRegion attention;
  private final OutputStage outputs;
  private final float[][] lanes;

  private final StepRows rows;
  private CpuKvPool pool;
  private HostStepTicket ticket;

  private final Map<Activation, float[]> buffers = new EnumMap<>(Activation.class);
  private int capacity;

  private CpuMatrix table;
  private int layer;
  private float[] source;
  private int sourceStride;
  private float[] target;
  private int targetStride;
  private float[] gain;
  private float[] queryNorm;
  private float[] keyNorm;
  private RowOperation operation;
  private final WorkerTeam.Region rowRegion = this::applyRows;
  private final RowOperation embedRow = this::embedRow;
  private final RowOperation normRow = this::normRow;
  private final RowOperation ropeRow = this::ropeRow;
  private final RowOperation swigluRow = this::swigluRow;
  private final RowOperation addRow = this::addRow;

  CpuForward(ModelConfig config, WorkerTeam team, Kernels kernels, StepRows rows) {
    this.config = config;
    this.team = team;
    this.kernels = kernels;
    this.rows = rows;
    rope = new RopeTable(config);
    matmul = new MatmulRegion(team, kernels, TileTuner.of(kernels));
    attention = new AttentionRegion(config, kernels, team.size());
    outputs = new OutputStage(config, team, matmul);
    lanes = new float[team.size()][Kernels.LANES];
  }

  /** Floats from row to row of a buffer: the width, filled up to whole panels. */
  private int stride(Activation activation) {
    return (activation.width(config) + PANEL - 1) / PANEL * PANEL;
  }

  /** Starts a step over rows that were taken before, with its pool and ticket. */
  void begin(CpuKvPool pool, HostStepTicket ticket) {
    this.pool = pool;
    this.ticket = ticket;
    rope.ensure(rows.longest);
    if (rows.rows > capacity) {
      capacity = Math.max(rows.rows, Math.max(16, capacity * 2));
      for (Activation activation : Activation.values()) {
        buffers.put(
            activation, new float[(capacity + MatmulRegion.SPARE_ROWS) * stride(activation)]);
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

  private void from(Activation activation) {
    source = buffers.get(activation);
    sourceStride = stride(activation);
  }

  private void to(Activation activation) {
    target = buffers.get(activation);
    targetStride = stride(activation);
  }

  @Override
  public void embed(CpuMatrix matrix) {
    table = matrix;
    to(Activation.HIDDEN);
    forRows(config.hiddenSize(), embedRow);
  }

  private void embedRow(int row, int worker) {
    table.panels().row(rows.token[row], target, row * targetStride);
  }

  @Override
  public void rmsNorm(Activation from, float[] weights, Activation to) {
    from(from);
    to(to);
    gain = weights;
    forRows(config.hiddenSize(), normRow);
  }

  private void normRow(int row, int worker) {
    norm(
        source,
        row * sourceStride,
        gain,
        target,
        row * targetStride,
        config.hiddenSize(),
        lanes[worker]);
  }

  private void norm(
      float[] x, int xo, float[] weights, float[] out, int oo, int n, float[] scratch) {
    float squares = kernels.sumOfSquares(x, xo, n, scratch);
    float factor = (float) (1 / Math.sqrt((double) squares / n + config.normEpsilon()));
    kernels.scale(x, xo, factor, weights, out, oo, n);
  }

  @Override
  public void matmul(CpuMatrix matrix, Activation from, Activation to) {
    matmul.multiply(
        matrix, buffers.get(from), stride(from), buffers.get(to), stride(to), rows.rows);
  }

  @Override
  public void ropeAndStore(int layer, float[] queryNorm, float[] keyNorm) {
    this.layer = layer;
    this.queryNorm = queryNorm;
    this.keyNorm = keyNorm;
    from(Activation.QKV);
    forRows(Activation.QKV.width(config), ropeRow);
  }

  private void ropeRow(int row, int worker) {
    int headDim = config.headDim();
    int position = rows.position[row];
    int page = rows.pages[row][position / CpuKvPool.PAGE_TOKENS];
    int keys = config.heads();
    int values = keys + config.kvHeads();
    for (int head = 0; head < values; head++) {
      int at = row * sourceStride + head * headDim;
      float[] weights = head < keys ? queryNorm : keyNorm;
      if (weights != null) {
        norm(source, at, weights, source, at, headDim, lanes[worker]);
      }
      rope.rotate(source, at, position);
    }
    for (int head = 0; head < config.kvHeads(); head++) {
      int k = row * sourceStride + (keys + head) * headDim;
      int v = row * sourceStride + (values + head) * headDim;
      pool.store(page, position % CpuKvPool.PAGE_TOKENS, layer, head, source, k, source, v);
    }
  }

  @Override
  public void attend(int layer) {
    from(Activation.QKV);
    to(Activation.ATTENDED);
    attention.prepare(pool, rows, layer, source, sourceStride, target, targetStride);
    team.run(attention.tasks(), attention);
  }

  @Override
  public void swiglu() {
    from(Activation.GATE_UP);
    to(Activation.GATED);
    forRows(config.intermediateSize(), swigluRow);
  }

  private void swigluRow(int row, int worker) {
    int n = config.intermediateSize();
    int gate = row * sourceStride;
    kernels.swiglu(source, gate, source, gate + n, target, row * targetStride, n);
  }

  @Override
  public void addResidual() {
    from(Activation.DELTA);
    to(Activation.HIDDEN);
    forRows(config.hiddenSize(), addRow);
  }

  private void addRow(int row, int worker) {
    kernels.add(source, row * sourceStride, target, row * targetStride, config.hiddenSize());
  }

  @Override
  public void outputs(float[] weights, CpuMatrix head) {
    from(Activation.HIDDEN);
    to(Activation.NORMED);
    int count = ticket.outputs();
    for (int first = 0; first < count; first += OutputStage.ROWS) {
      int block = Math.min(OutputStage.ROWS, count - first);
      for (int i = 0; i < block; i++) {
        int row = ticket.batch().outputRow(first + i);
        norm(
            source,
            row * sourceStride,
            weights,
            target,
            i * targetStride,
            config.hiddenSize(),
            lanes[0]);
      }
      outputs.run(ticket, first, block, head, target, targetStride);
    }
  }
}
