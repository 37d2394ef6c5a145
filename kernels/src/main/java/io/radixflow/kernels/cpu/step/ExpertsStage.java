package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.step.PartTimes.Part;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ForwardOps.ExpertWeights;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import java.util.Arrays;

/**
 * Mixture of experts over the rows of a step. Rows are grouped by expert, so that each expert's
 * weights are read once. The experts of a row are added in the order in which the row chose them,
 * so the result does not depend on other rows.
 *
 * <p>Owned by the dispatcher. Buffers grow with the largest step so far and are reused.
 */
final class ExpertsStage {

  private static final int TASK_ROWS = 4;

  private final WorkerTeam team;
  private final Kernels kernels;
  private final GroupedMatmul products;
  private final PartTimes parts;
  private final ExpertChoice[] choices;
  private final WorkerTeam.Region choosing = this::chooseRows;
  private final WorkerTeam.Region gating = this::gateRows;
  private final WorkerTeam.Region adding = this::addRows;

  /**
   * For each row, in the order of choice: its experts, their weights, and the row's places in the
   * groups.
   */
  private int[] ids = new int[0];

  private float[] weights = new float[0];
  private int[] places = new int[0];

  /** The row of each place. Places are in the order of experts. */
  private int[] rowOf = new int[0];

  /** The numbers 0, 1, 2 and so on. */
  private int[] identity = new int[0];

  private final int[] ends;
  private Floats gateUp = Floats.NONE;
  private Floats gated = Floats.NONE;
  private Floats expanded = Floats.NONE;

  private Experts shape;
  private ExpertWeights<CpuMatrix, Floats> experts;
  private int rows;
  private Floats logits;
  private int logitsStride;
  private Floats delta;
  private final int hidden;
  private int hiddenStride;

  ExpertsStage(
      ModelConfig config,
      WorkerTeam team,
      Kernels kernels,
      GroupedMatmul products,
      PartTimes parts) {
    this.parts = parts;
    this.team = team;
    this.kernels = kernels;
    this.products = products;
    hidden = config.hiddenSize();
    int most = 0;
    for (Layer layer : config.blocks()) {
      most = layer.feedForward() instanceof Experts e ? Math.max(most, e.count()) : most;
    }
    ends = new int[most];
    choices = new ExpertChoice[team.size()];
    for (int i = 0; i < choices.length; i++) {
      choices[i] = new ExpertChoice(kernels, most);
    }
  }

  /**
   * Computes the output of the experts for all rows.
   *
   * @param in the experts' input
   * @param delta receives the output
   * @param hiddenStride distance between rows of {@code in} and of {@code delta}, in floats
   */
  void run(
      Experts shape,
      ExpertWeights<CpuMatrix, Floats> experts,
      int rows,
      Floats logits,
      int logitsStride,
      Floats in,
      Floats delta,
      int hiddenStride) {
    this.shape = shape;
    this.experts = experts;
    this.rows = rows;
    this.logits = logits;
    this.logitsStride = logitsStride;
    this.delta = delta;
    this.hiddenStride = hiddenStride;
    int gateUpStride = wholePanels(2 * shape.expert().width());
    int gatedStride = wholePanels(shape.expert().width());
    ensure(rows * shape.chosen(), gateUpStride, gatedStride);
    parts.begin();
    team.run((rows + TASK_ROWS - 1) / TASK_ROWS, choosing);
    group();
    parts.end(Part.EXPERT_CHOICE);
    products.begin(in, hiddenStride, gateUp, gateUpStride);
    addProducts(true);
    products.run(Part.EXPERT_GATE_UP);
    parts.begin();
    team.run((rows * shape.chosen() + TASK_ROWS - 1) / TASK_ROWS, gating);
    parts.end(Part.EXPERT_GATE);
    products.begin(gated, gatedStride, expanded, hiddenStride);
    addProducts(false);
    products.run(Part.EXPERT_DOWN);
    parts.begin();
    team.run((rows + TASK_ROWS - 1) / TASK_ROWS, adding);
    parts.end(Part.EXPERT_SUM);
  }

  private static int wholePanels(int width) {
    return (width + PANEL - 1) / PANEL * PANEL;
  }

  private void ensure(int count, int gateUpStride, int gatedStride) {
    if (ids.length < count) {
      int size = Math.max(count, 2 * ids.length);
      ids = new int[size];
      weights = new float[size];
      places = new int[size];
      rowOf = new int[size];
      identity = new int[size];
      for (int i = 0; i < size; i++) {
        identity[i] = i;
      }
    }
    gateUp = team.memory().grown(gateUp, ids.length * gateUpStride);
    gated = team.memory().grown(gated, ids.length * gatedStride);
    expanded = team.memory().grown(expanded, ids.length * hiddenStride);
  }

  private void chooseRows(int task, int worker) {
    int end = Math.min(rows, (task + 1) * TASK_ROWS);
    for (int row = task * TASK_ROWS; row < end; row++) {
      choices[worker].choose(
          shape.router(),
          shape.count(),
          shape.chosen(),
          logits,
          row * logitsStride,
          experts.correction(),
          ids,
          weights,
          row * shape.chosen());
    }
  }

  /**
   * Groups the rows by expert and keeps their order. Afterwards {@code ends} has the end of each
   * group.
   */
  private void group() {
    int count = rows * shape.chosen();
    Arrays.fill(ends, 0);
    for (int i = 0; i < count; i++) {
      ends[ids[i]]++;
    }
    int before = 0;
    for (int expert = 0; expert < shape.count(); expert++) {
      int members = ends[expert];
      ends[expert] = before;
      before += members;
    }
    for (int i = 0; i < count; i++) {
      int place = ends[ids[i]]++;
      places[i] = place;
      rowOf[place] = i / shape.chosen();
    }
  }

  private void addProducts(boolean up) {
    int first = 0;
    for (int expert = 0; expert < shape.count(); expert++) {
      int count = ends[expert] - first;
      if (count > 0) {
        CpuMatrix matrix = (up ? experts.gateUp() : experts.down()).get(expert);
        products.add(matrix, up ? rowOf : identity, first, count, 0, first, 0);
      }
      first = ends[expert];
    }
  }

  private void gateRows(int task, int worker) {
    Dense expert = shape.expert();
    int end = Math.min(rows * shape.chosen(), (task + 1) * TASK_ROWS);
    for (int place = task * TASK_ROWS; place < end; place++) {
      Gate.apply(
          kernels,
          expert,
          gateUp,
          place * wholePanels(2 * expert.width()),
          gated,
          place * wholePanels(expert.width()));
    }
  }

  private void addRows(int task, int worker) {
    int end = Math.min(rows, (task + 1) * TASK_ROWS);
    for (int row = task * TASK_ROWS; row < end; row++) {
      int to = row * hiddenStride;
      delta.fill(to, to + hidden, 0f);
      for (int i = row * shape.chosen(); i < (row + 1) * shape.chosen(); i++) {
        addWeighted(weights[i], expanded, places[i] * hiddenStride, delta, to, hidden);
      }
    }
  }

  /** {@code y += weight * x}, with two roundings. */
  static void addWeighted(float weight, Floats x, int xo, Floats y, int yo, int n) {
    for (int i = 0; i < n; i++) {
      y.set(yo + i, y.get(yo + i) + weight * x.get(xo + i));
    }
  }
}
