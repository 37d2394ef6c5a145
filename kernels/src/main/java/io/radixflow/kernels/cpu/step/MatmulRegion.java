package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Arrays;

/**
 * Multiplies a matrix with activation rows. {@link IntegerProducts}, if the backend has them,
 * multiply codes with scales. Panels of other weights are unpacked once for all packed rows of a
 * task, {@link Panels#DEPTH} columns at a time so that they stay in the nearest cache.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class MatmulRegion implements WorkerTeam.Region {

  /** Fewest rows per task if rows are split because there are too few panels. */
  private static final int LEAST_TASK_ROWS = 64;

  /** Approximate number of tasks per worker. With many tasks, workers end together. */
  private static final int WORKER_TASKS = 24;

  /**
   * Up to this number of rows, a product is limited by reading weights from memory, which is
   * fastest in long runs.
   */
  private static final int FEW_ROWS = 8;

  private final WorkerTeam team;
  private final Kernels kernels;
  private final IntegerProducts integers;
  private final PanelTasks tasks;
  private final RoundedRows rounded;
  private final Floats[] scratch;
  private final float[][] scales;
  private final WorkerTeam.Region packing = this::pack;
  private final WorkerTeam.Region integerPanels = this::multiplyIntegers;
  private Floats packed = Floats.NONE;

  private CpuMatrix matrix;
  private Floats in;
  private int inStride;
  private Floats out;
  private int outStride;
  private int rows;
  private boolean fewRows;
  private int tileRows;
  private int taskTiles;
  private int taskRows;

  /**
   * @param integers products of codes; null to multiply all weights as floats
   */
  MatmulRegion(WorkerTeam team, Kernels kernels, IntegerProducts integers, PartTimes parts) {
    this.team = team;
    this.kernels = kernels;
    this.integers = integers;
    tasks = new PanelTasks(team.size());
    rounded = new RoundedRows(team, integers, parts);
    scratch = new Floats[team.size()];
    Arrays.setAll(scratch, worker -> team.memory().floats(Panels.DEPTH * PANEL));
    scales = new float[team.size()][Panels.SCALES];
  }

  /** Number of rows after the last one that {@link #multiply} may overwrite. */
  static final int SPARE_ROWS = TileRows.MOST;

  /**
   * {@code out = matrix · in + bias}.
   *
   * @param inStride distance between rows of {@code in}, in floats
   * @param outStride distance between rows of {@code out}, in floats; a multiple of PANEL
   */
  void multiply(CpuMatrix matrix, Floats in, int inStride, Floats out, int outStride, int rows) {
    this.matrix = matrix;
    this.in = in;
    this.inStride = inStride;
    this.out = out;
    this.outStride = outStride;
    this.rows = rows;
    split(matrix.panels().count());
    if (integers != null && matrix.panels().hasIntegers()) {
      round(matrix.panels().columns());
      taskRows = (rows + splits() - 1) / splits();
      team.run(tasks.count() * ((rows + taskRows - 1) / taskRows), integerPanels);
      return;
    }
    fewRows = rows <= matrix.panels().fewRows(kernels);
    if (fewRows || rows == 1) {
      team.run(tasks.count(), this);
      return;
    }
    tileRows = TileRows.of(rows);
    int tiles = (rows + tileRows - 1) / tileRows;
    int columns = matrix.panels().columns();
    packed = team.memory().grown(packed, tiles * tileRows * columns);
    team.run(tiles, packing);
    taskTiles = (tiles + splits() - 1) / splits();
    team.run(tasks.count() * ((tiles + taskTiles - 1) / taskTiles), this);
  }

  /**
   * Splits panels into tasks. With few rows, tasks become shorter and shorter; otherwise they have
   * equal length.
   */
  private void split(int panels) {
    if (rows <= FEW_ROWS) {
      tasks.beginShrinking(panels, 1);
    } else {
      tasks.beginEven(Math.max(1, panels / (team.size() * WORKER_TASKS)));
    }
    tasks.add(0, panels);
  }

  /** Number of parts into which rows are split if there are too few panels for all workers. */
  private int splits() {
    return Math.max(1, Math.min(rows / LEAST_TASK_ROWS, team.size() * 4 / tasks.count()));
  }

  private void round(int columns) {
    rounded.begin(in);
    for (int row = 0; row < rows; row++) {
      rounded.add(row * inStride);
    }
    rounded.round(columns);
  }

  private void multiplyIntegers(int task, int worker) {
    int first = tasks.first(task % tasks.count());
    int end = tasks.end(task % tasks.count());
    int row = task / tasks.count() * taskRows;
    integers.multiply(
        matrix,
        first,
        end,
        rounded.integers(),
        rounded.integers().numbers(),
        row,
        Math.min(taskRows, rows - row),
        out,
        row * outStride + first * PANEL,
        outStride,
        worker);
  }

  /** Interleaves the rows of one tile. */
  private void pack(int tile, int worker) {
    int columns = matrix.panels().columns();
    for (int i = 0; i < tileRows; i++) {
      int row = tile * tileRows + i;
      int target = tile * tileRows * columns + i;
      if (row < rows) {
        interleave(in, row * inStride, columns, packed, target, tileRows);
      } else {
        for (int k = 0; k < columns; k++) {
          packed.set(target + k * tileRows, 0f);
        }
      }
    }
  }

  private static void interleave(
      Floats source, int from, int count, Floats target, int at, int stride) {
    for (int k = 0, o = at; k < count; k++, o += stride) {
      target.set(o, source.get(from + k));
    }
  }

  @Override
  public void run(int task, int worker) {
    int first = tasks.first(task % tasks.count());
    int end = tasks.end(task % tasks.count());
    for (int panel = first; panel < end; panel++) {
      if (fewRows) {
        for (int row = 0; row < rows; row++) {
          begin(panel, row);
        }
        matrix
            .panels()
            .timesRows(kernels, panel, in, inStride, rows, out, panel * PANEL, outStride);
      } else if (rows == 1) {
        begin(panel, 0);
        matrix
            .panels()
            .timesVector(kernels, panel, in, out, panel * PANEL, scratch[worker], scales[worker]);
      } else {
        multiplyPanel(panel, task / tasks.count() * taskTiles, scratch[worker], scales[worker]);
      }
    }
  }

  private void begin(int panel, int row) {
    int at = row * outStride + panel * PANEL;
    if (matrix.bias() == null) {
      out.fill(at, at + PANEL, 0f);
    } else {
      out.put(at, matrix.bias(), panel * PANEL, PANEL);
    }
  }

  private void multiplyPanel(int panel, int firstTile, Floats unpacked, float[] scales) {
    int columns = matrix.panels().columns();
    int endTile = Math.min((rows + tileRows - 1) / tileRows, firstTile + taskTiles);
    for (int row = firstTile * tileRows; row < endTile * tileRows; row++) {
      begin(panel, row);
    }
    for (int from = 0; from < columns; from += Panels.DEPTH) {
      int to = Math.min(columns, from + Panels.DEPTH);
      matrix.panels().unpack(kernels, panel, from, to, unpacked, scales);
      for (int tile = firstTile; tile < endTile; tile++) {
        kernels.tile(
            tileRows,
            packed,
            (tile * columns + from) * tileRows,
            unpacked,
            0,
            to - from,
            out,
            tile * tileRows * outStride + panel * PANEL,
            outStride);
      }
    }
  }
}
