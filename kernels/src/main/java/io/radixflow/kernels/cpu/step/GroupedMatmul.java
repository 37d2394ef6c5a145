package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.integer.IntegerProducts;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Arrays;

/**
 * Many small products in one parallel region. Each matrix has its own rows, as experts and the
 * heads of latent attention need. A task multiplies some panels of one matrix with all rows of that
 * matrix, so that weights are read once. Rounding is the same as in {@link MatmulRegion}.
 *
 * <p>Owned by the dispatcher; reused.
 */
final class GroupedMatmul implements WorkerTeam.Region {

  /** Fewest panels per task. Computing them takes longer than starting a task. */
  private static final int LEAST_TASK_PANELS = 4;

  /** Buffers of one worker. */
  private static final class Scratch {
    final Floats unpacked;
    final float[] scales = new float[Panels.SCALES];
    Floats packed = Floats.NONE;
    Floats out = Floats.NONE;

    Scratch(RowMemory memory) {
      unpacked = memory.floats(Panels.DEPTH * PANEL);
    }
  }

  private final WorkerTeam team;
  private final Kernels kernels;
  private final IntegerProducts integers;
  private final PartTimes parts;
  private final PanelTasks tasks;
  private final RoundedRows rounded;
  private final Scratch[] scratch;

  private Floats in;
  private int inStride;
  private Floats out;
  private int outStride;

  private int products;
  private CpuMatrix[] matrices = new CpuMatrix[16];
  private int[][] inRows = new int[16][];
  private int[] firsts = new int[16];
  private int[] counts = new int[16];
  private int[] inOffsets = new int[16];
  private int[] outRows = new int[16];
  private int[] outOffsets = new int[16];

  /** Index of the first row of each product among the rounded rows, unless products share rows. */
  private int[] firstRounded = new int[16];

  /** Whether all products read rows from the same offset, so that each row is rounded only once. */
  private boolean sharedRows;

  /**
   * @param integers products of codes; null to multiply all weights as floats
   */
  GroupedMatmul(WorkerTeam team, Kernels kernels, IntegerProducts integers, PartTimes parts) {
    this.parts = parts;
    this.team = team;
    this.kernels = kernels;
    this.integers = integers;
    tasks = new PanelTasks(team.size());
    rounded = new RoundedRows(team, integers, parts);
    scratch = new Scratch[team.size()];
    for (int i = 0; i < scratch.length; i++) {
      scratch[i] = new Scratch(team.memory());
    }
  }

  /**
   * Begins a list of products from {@code in} to {@code out}.
   *
   * @param inStride distance between rows of {@code in}, in floats
   * @param outStride distance between rows of {@code out}, in floats
   */
  void begin(Floats in, int inStride, Floats out, int outStride) {
    this.in = in;
    this.inStride = inStride;
    this.out = out;
    this.outStride = outStride;
    products = 0;
  }

  /**
   * Adds a product. Its rows need not be consecutive.
   *
   * @param rows numbers of the rows of {@code in}, from index {@code first} on
   * @param inOffset first element used in each row
   * @param outRow row of {@code out} for the first result; the others follow
   * @param outOffset first element written in each row of {@code out}
   */
  void add(
      CpuMatrix matrix, int[] rows, int first, int count, int inOffset, int outRow, int outOffset) {
    if (products == matrices.length) {
      grow(products * 2);
    }
    matrices[products] = matrix;
    inRows[products] = rows;
    firsts[products] = first;
    counts[products] = count;
    inOffsets[products] = inOffset;
    outRows[products] = outRow;
    outOffsets[products++] = outOffset;
  }

  private void grow(int size) {
    matrices = Arrays.copyOf(matrices, size);
    inRows = Arrays.copyOf(inRows, size);
    firsts = Arrays.copyOf(firsts, size);
    counts = Arrays.copyOf(counts, size);
    inOffsets = Arrays.copyOf(inOffsets, size);
    outRows = Arrays.copyOf(outRows, size);
    outOffsets = Arrays.copyOf(outOffsets, size);
    firstRounded = new int[size];
  }

  private boolean isInteger(int product) {
    return integers != null && matrices[product].panels().hasIntegers();
  }

  /** Rounds the rows of the products with codes. All products have rows of the same width. */
  private void roundRows() {
    boolean any = false;
    sharedRows = true;
    for (int i = 0; i < products; i++) {
      any |= isInteger(i);
      sharedRows &= inOffsets[i] == inOffsets[0];
    }
    if (!any) {
      return;
    }
    rounded.begin(in);
    if (sharedRows) {
      addSharedRows();
    } else {
      addOwnRows();
    }
    rounded.round(matrices[0].panels().columns());
  }

  private void addSharedRows() {
    int end = endOfRows();
    for (int row = 0; row < end; row++) {
      rounded.add(row * inStride + inOffsets[0]);
    }
  }

  private void addOwnRows() {
    for (int i = 0; i < products; i++) {
      firstRounded[i] = rounded.count();
      for (int row = 0; row < counts[i] && isInteger(i); row++) {
        rounded.add(inRows[i][firsts[i] + row] * inStride + inOffsets[i]);
      }
    }
  }

  /** One more than the highest row number that any product reads. */
  private int endOfRows() {
    int end = 0;
    for (int i = 0; i < products; i++) {
      for (int row = firsts[i]; row < firsts[i] + counts[i]; row++) {
        end = Math.max(end, inRows[i][row] + 1);
      }
    }
    return end;
  }

  /**
   * Computes the products.
   *
   * @param part the part to which a profile adds the time; null for the operation itself
   */
  void run(PartTimes.Part part) {
    roundRows();
    parts.begin();
    multiply();
    if (part != null) {
      parts.end(part);
      for (int i = 0; i < products; i++) {
        parts.count(part, matrices[i].panels(), counts[i]);
      }
    }
  }

  private void multiply() {
    int panels = 0;
    for (int i = 0; i < products; i++) {
      panels += matrices[i].panels().count();
    }
    tasks.beginShrinking(panels, LEAST_TASK_PANELS);
    for (int i = 0; i < products; i++) {
      tasks.add(i, matrices[i].panels().count());
    }
    team.run(tasks.count(), this);
  }

  @Override
  public void run(int task, int worker) {
    int product = tasks.product(task);
    Panels panels = matrices[product].panels();
    int first = tasks.first(task);
    int end = tasks.end(task);
    int rows = counts[product];
    Scratch s = scratch[worker];
    if (isInteger(product)) {
      multiplyIntegers(s, product, first, end, worker);
      return;
    }
    boolean few = rows <= panels.fewRows(kernels);
    int tileRows = few || rows == 1 ? 1 : TileRows.of(rows);
    pack(s, product, tileRows);
    for (int panel = first; panel < end; panel++) {
      begin(s, matrices[product].bias(), panel, tileRows * tiles(rows, tileRows));
      if (few) {
        panels.timesRows(kernels, panel, s.packed, panels.columns(), rows, s.out, 0, PANEL);
      } else if (rows == 1) {
        panels.timesVector(kernels, panel, s.packed, s.out, 0, s.unpacked, s.scales);
      } else {
        multiply(s, panels, panel, tileRows, tiles(rows, tileRows));
      }
      copyOut(s.out, product, panel);
    }
  }

  /**
   * Writes the outputs directly to their place. Only the outputs of a padded last panel use a
   * buffer.
   */
  private void multiplyIntegers(Scratch s, int product, int first, int end, int worker) {
    int whole = Math.min(end, matrices[product].panels().rows() / PANEL);
    if (first < whole) {
      int at = outRows[product] * outStride + outOffsets[product] + first * PANEL;
      multiplyIntegers(product, first, whole, out, at, outStride, worker);
    }
    if (whole < end) {
      int rows = counts[product];
      s.out = team.memory().grown(s.out, rows * PANEL);
      multiplyIntegers(product, whole, end, s.out, 0, PANEL, worker);
      copyOut(s.out, product, whole);
    }
  }

  private void multiplyIntegers(
      int product, int first, int end, Floats to, int at, int stride, int worker) {
    integers.multiply(
        matrices[product],
        first,
        end,
        rounded.integers(),
        sharedRows ? inRows[product] : rounded.integers().numbers(),
        sharedRows ? firsts[product] : firstRounded[product],
        counts[product],
        to,
        at,
        stride,
        worker);
  }

  private static int tiles(int rows, int tileRows) {
    return (rows + tileRows - 1) / tileRows;
  }

  /** Interleaves the rows of each tile. The last tile is filled with rows of zeros. */
  private void pack(Scratch s, int product, int tileRows) {
    int columns = matrices[product].panels().columns();
    int rows = counts[product];
    int filled = tiles(rows, tileRows) * tileRows;
    s.packed = team.memory().grown(s.packed, filled * columns);
    s.out = team.memory().grown(s.out, filled * PANEL);
    for (int row = 0; row < filled; row++) {
      int to = row / tileRows * tileRows * columns + row % tileRows;
      if (row >= rows) {
        for (int k = 0; k < columns; k++, to += tileRows) {
          s.packed.set(to, 0f);
        }
        continue;
      }
      int from = inRows[product][firsts[product] + row] * inStride + inOffsets[product];
      for (int k = 0; k < columns; k++, to += tileRows) {
        s.packed.set(to, in.get(from + k));
      }
    }
  }

  private static void begin(Scratch s, Floats bias, int panel, int rows) {
    if (bias == null) {
      s.out.fill(0, rows * PANEL, 0f);
      return;
    }
    for (int row = 0; row < rows; row++) {
      s.out.put(row * PANEL, bias, panel * PANEL, PANEL);
    }
  }

  private void multiply(Scratch s, Panels panels, int panel, int tileRows, int tiles) {
    int columns = panels.columns();
    for (int from = 0; from < columns; from += Panels.DEPTH) {
      int to = Math.min(columns, from + Panels.DEPTH);
      panels.unpack(kernels, panel, from, to, s.unpacked, s.scales);
      for (int tile = 0; tile < tiles; tile++) {
        kernels.tile(
            tileRows,
            s.packed,
            (tile * columns + from) * tileRows,
            s.unpacked,
            0,
            to - from,
            s.out,
            tile * tileRows * PANEL,
            PANEL);
      }
    }
  }

  private void copyOut(Floats from, int product, int panel) {
    int width = Math.min(PANEL, matrices[product].panels().rows() - panel * PANEL);
    int to = outRows[product] * outStride + outOffsets[product] + panel * PANEL;
    for (int row = 0; row < counts[product]; row++) {
      out.put(to + row * outStride, from, row * PANEL, width);
    }
  }
}
