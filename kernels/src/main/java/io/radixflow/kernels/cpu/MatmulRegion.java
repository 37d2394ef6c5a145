package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Arrays;

/**
 * Matrix times activation rows. One row and a few rows go through the fused kernels of the encoding
 * if it has them; more rows are packed into tiles, and each panel is unpacked once, {@link
 * Panels#DEPTH} of k at a time so that it stays in the nearest cache, for all tiles of a task.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class MatmulRegion implements WorkerTeam.Region {

  /** Rows of a task, at least, when rows are split because there are too few panels. */
  private static final int LEAST_TASK_ROWS = 64;

  private final WorkerTeam team;
  private final Kernels kernels;
  private final TileTuner tuner;
  private final float[][] scratch;
  private final WorkerTeam.Region packing = this::pack;
  private float[] packed = new float[0];

  private CpuMatrix matrix;
  private float[] in;
  private int inStride;
  private float[] out;
  private int outStride;
  private int rows;
  private int tileRows;
  private boolean fused;
  private int taskPanels;
  private int panelTasks;
  private int taskTiles;

  MatmulRegion(WorkerTeam team, Kernels kernels, TileTuner tuner) {
    this.team = team;
    this.kernels = kernels;
    this.tuner = tuner;
    scratch = new float[team.size()][Panels.DEPTH * PANEL];
  }

  /** Rows behind the last that {@link #multiply} may overwrite. */
  static final int SPARE_ROWS = TileTuner.MOST_ROWS;

  /**
   * {@code out = matrix · in + bias}.
   *
   * @param inStride floats from row to row of {@code in}
   * @param outStride floats from row to row of {@code out}: whole panels
   */
  void multiply(CpuMatrix matrix, float[] in, int inStride, float[] out, int outStride, int rows) {
    this.matrix = matrix;
    this.in = in;
    this.inStride = inStride;
    this.out = out;
    this.outStride = outStride;
    this.rows = rows;
    int panels = matrix.panels().count();
    taskPanels = Math.max(1, panels / (team.size() * 6));
    panelTasks = (panels + taskPanels - 1) / taskPanels;
    if (rows == 1) {
      taskTiles = 1;
      team.run(panelTasks, this);
      return;
    }
    fused = rows <= TileTuner.MOST_ROWS && matrix.panels().hasTimesRows();
    tileRows = fused ? (rows <= 4 ? 4 : 8) : tuner.tileRows(rows);
    int tiles = (rows + tileRows - 1) / tileRows;
    int columns = matrix.panels().columns();
    if (packed.length < tiles * tileRows * columns) {
      packed = new float[tiles * tileRows * columns];
    }
    team.run(tiles, packing);
    int splits = Math.max(1, Math.min(rows / LEAST_TASK_ROWS, team.size() * 4 / panelTasks));
    taskTiles = (tiles + splits - 1) / splits;
    team.run(panelTasks * ((tiles + taskTiles - 1) / taskTiles), this);
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
          packed[target + k * tileRows] = 0f;
        }
      }
    }
  }

  private static void interleave(
      float[] source, int from, int count, float[] target, int at, int stride) {
    for (int k = 0, o = at; k < count; k++, o += stride) {
      target[o] = source[from + k];
    }
  }

  @Override
  public void run(int task, int worker) {
    int first = task % panelTasks * taskPanels;
    int end = Math.min(matrix.panels().count(), first + taskPanels);
    for (int panel = first; panel < end; panel++) {
      if (rows == 1) {
        begin(panel, 0);
        matrix.panels().timesVector(kernels, panel, in, out, panel * PANEL, scratch[worker]);
      } else if (fused) {
        for (int row = 0; row < tileRows; row++) {
          begin(panel, row);
        }
        matrix.panels().timesRows(kernels, panel, tileRows, packed, out, panel * PANEL, outStride);
      } else {
        multiplyPanel(panel, task / panelTasks * taskTiles, scratch[worker]);
      }
    }
  }

  private void begin(int panel, int row) {
    int at = row * outStride + panel * PANEL;
    if (matrix.bias() == null) {
      Arrays.fill(out, at, at + PANEL, 0f);
    } else {
      System.arraycopy(matrix.bias(), panel * PANEL, out, at, PANEL);
    }
  }

  private void multiplyPanel(int panel, int firstTile, float[] unpacked) {
    int columns = matrix.panels().columns();
    int endTile = Math.min((rows + tileRows - 1) / tileRows, firstTile + taskTiles);
    for (int row = firstTile * tileRows; row < endTile * tileRows; row++) {
      begin(panel, row);
    }
    for (int from = 0; from < columns; from += Panels.DEPTH) {
      int to = Math.min(columns, from + Panels.DEPTH);
      matrix.panels().unpack(kernels, panel, from, to, unpacked);
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
