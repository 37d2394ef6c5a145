package io.radixflow.kernels.cpu.integer;

import static io.radixflow.kernels.cpu.kernel.CodeForm.BLOCK;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static io.radixflow.kernels.cpu.weights.Panels.DEPTH;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.kernels.cpu.weights.Panels;
import java.util.Arrays;

/**
 * Integer products that use the tiles for floats. A float represents integers of 24 bits exactly,
 * so a chain of fused multiply-adds over a block's codes is exact. If the sum of a block may be
 * larger, its codes are split into two parts. Each worker keeps the rows as floats for all panels
 * that it multiplies.
 */
final class JavaIntegerProducts extends IntegerProducts {

  /** Adding this to a number below 2^22 leaves the nearest integer in the lowest bits. */
  private static final float ROUNDER = 0x1.8p23f;

  private static final float LEAST = 0x1p-100f;
  private static final int MOST_TILE_ROWS = 8;

  /** Buffers of one worker. */
  private static final class Scratch {
    final Floats codes = Floats.allocate(DEPTH * PANEL);
    final Floats highCodes = Floats.allocate(DEPTH * PANEL);
    final float[] scales = new float[Panels.SCALES];
    final Floats sums = Floats.allocate(MOST_TILE_ROWS * PANEL);
    final Floats highSums = Floats.allocate(MOST_TILE_ROWS * PANEL);
    final float[] rowScales = new float[MOST_TILE_ROWS];
    final float[] rowMinima = new float[MOST_TILE_ROWS];

    /** Tiles of interleaved rows: {@code [tile][column][row of the tile]}. */
    Floats tiles = Floats.NONE;

    /** The integers of the row, if there is only one row. */
    int[] row = new int[0];

    /** Sums of a single row times one panel. */
    float[] rowSums = new float[0];

    /** Scales of one panel. */
    float[] panelScales = new float[0];

    /** The rows from which the tiles were made. */
    IntegerRows source;

    long version;
    int[] numbers;
    int number;
    int count;
  }

  private final Kernels kernels;
  private final int mostTileRows;
  private final Scratch[] scratch;

  JavaIntegerProducts(Kernels kernels, int tileRows, int workers) {
    this.kernels = kernels;
    mostTileRows = tileRows;
    scratch = new Scratch[workers];
    Arrays.setAll(scratch, worker -> new Scratch());
  }

  @Override
  public void pack(Floats in, int from, IntegerRows rows, int row) {
    int columns = rows.columns();
    for (int column = 0; column < columns; column += BLOCK) {
      float largest = largest(in, from + column);
      float inverse = 0;
      float scale = 0;
      if (!(largest <= Float.MAX_VALUE)) {
        scale = Float.NaN;
      } else if (largest >= LEAST) {
        scale = largest / IntegerRows.LARGEST;
        inverse = IntegerRows.LARGEST / largest;
      }
      int first = row * columns + column;
      rows.scales.set(first / BLOCK, scale);
      for (int half = 0; half < BLOCK; half += 16) {
        int sum = round(in, from + column + half, inverse, rows, first + half);
        rows.sums.set((first + half) / 16, sum);
      }
    }
  }

  /** The largest absolute value of a block; NaN if the block contains a NaN. */
  private static float largest(Floats in, int from) {
    int bits = 0;
    for (int i = from; i < from + BLOCK; i++) {
      bits = Math.max(bits, in.bits(i) & 0x7fffffff);
    }
    return Float.intBitsToFloat(bits);
  }

  /** Rounds 16 columns; returns their sum. */
  private static int round(Floats in, int from, float inverse, IntegerRows rows, int first) {
    int sum = 0;
    for (int quad = 0; quad < 16; quad += 4) {
      int at = from + quad;
      int a0 = round(in.get(at), inverse);
      int a1 = round(in.get(at + 1), inverse);
      int a2 = round(in.get(at + 2), inverse);
      int a3 = round(in.get(at + 3), inverse);
      rows.pairs.setBits((first + quad) / 2, a0 & 0xffff | a2 << 16);
      rows.pairs.setBits((first + quad) / 2 + 1, a1 & 0xffff | a3 << 16);
      sum += a0 + a1 + a2 + a3;
    }
    return sum;
  }

  private static int round(float value, float inverse) {
    if (inverse == 0) {
      return 0;
    }
    return (Float.floatToRawIntBits(value * inverse + ROUNDER) & 0x7fffff) - 0x400000;
  }

  @Override
  void multiply(
      Panels matrix,
      Floats bias,
      int above,
      int first,
      int end,
      IntegerRows rows,
      int[] numbers,
      int number,
      int count,
      Floats out,
      int at,
      int stride,
      int worker) {
    BlockPanels panels = (BlockPanels) matrix;
    Scratch s = scratch[worker];
    int tileRows = count == 1 ? 1 : count == 2 ? 2 : count <= 4 ? 4 : mostTileRows;
    interleave(s, rows, numbers, number, count, tileRows);
    if (count == 1) {
      multiplyRow(s, panels, bias, above, first, end, rows, numbers[number], out, at);
      return;
    }
    for (int panel = first; panel < end; panel++) {
      int to = at + (panel - first) * PANEL;
      begin(bias, (above + panel) * PANEL, count, out, to, stride);
      for (int from = 0; from < panels.columns(); from += DEPTH) {
        int depth = Math.min(panels.columns(), from + DEPTH) - from;
        unpack(s, panels, panel, from, depth);
        for (int row = 0; row < count; row += tileRows) {
          int inTile = Math.min(tileRows, count - row);
          for (int k = 0; k < depth; k += panels.scales().block()) {
            int rowScale = (from + k) / BLOCK;
            for (int i = 0; i < inTile; i++) {
              setRowScales(
                  s, i, panels.scales(), rows, numbers[number + row + i], from + k, rowScale);
            }
            addBlock(s, panels, tileRows, row, from, k, inTile, out, to + row * stride, stride);
          }
        }
      }
    }
  }

  private void multiplyRow(
      Scratch s,
      BlockPanels panels,
      Floats bias,
      int above,
      int first,
      int end,
      IntegerRows rows,
      int row,
      Floats out,
      int at) {
    BlockScales scales = panels.scales();
    int columns = panels.columns();
    int sums = columns / scales.block();
    for (int panel = first; panel < end; panel++) {
      int to = at + (panel - first) * PANEL;
      begin(bias, (above + panel) * PANEL, 1, out, to, 0);
      int codesAt = panels.codesAt(panel, 0);
      CodeForm form = panels.form();
      if (form == CodeForm.BYTE || form == CodeForm.SIX) {
        kernels.codesTimesRow(
            form, panels.codes(), codesAt, scales.block(), sums, s.row, s.rowSums);
      } else {
        kernels.nibblesTimesRow(form, panels.codes(), codesAt, sums, s.tiles, s.rowSums);
      }
      scales.unpack(panel, 0, columns, s.panelScales);
      for (int i = 0; i < sums; i++) {
        int column = i * scales.block();
        setRowScales(s, 0, scales, rows, row, column, column / BLOCK);
        s.sums.put(0, s.rowSums, i * PANEL, PANEL);
        kernels.addScaled(
            1,
            s.sums,
            null,
            s.panelScales,
            i * scales.parts() * PANEL,
            s.rowScales,
            scales.minima() ? s.rowMinima : null,
            out,
            to,
            0);
      }
    }
  }

  private static void begin(Floats bias, int from, int count, Floats out, int at, int stride) {
    for (int row = 0; row < count; row++, at += stride) {
      if (bias == null) {
        out.fill(at, at + PANEL, 0f);
      } else {
        out.put(at, bias, from, PANEL);
      }
    }
  }

  private void unpack(Scratch s, BlockPanels panels, int panel, int from, int depth) {
    int at = panels.codesAt(panel, from);
    if (panels.wide()) {
      kernels.unpackParts(panels.form(), panels.codes(), at, depth / BLOCK, s.highCodes, s.codes);
    } else {
      kernels.unpackCodes(panels.form(), panels.codes(), at, depth / BLOCK, s.codes);
    }
    panels.scales().unpack(panel, from, from + depth, s.scales);
  }

  private static void setRowScales(
      Scratch s, int i, BlockScales scales, IntegerRows rows, int row, int column, int block) {
    float scale = rows.scales.get(row * (rows.columns() / BLOCK) + block);
    s.rowScales[i] = scale;
    if (scales.minima()) {
      int sixteen = (row * rows.columns() + column) / 16;
      float sum = rows.sums.get(sixteen);
      s.rowMinima[i] = scale * (scales.block() == BLOCK ? sum + rows.sums.get(sixteen + 1) : sum);
    }
  }

  /**
   * For one tile of rows, adds the products of the columns that share one scale. The first of these
   * columns is {@code from + k}.
   */
  private void addBlock(
      Scratch s,
      BlockPanels panels,
      int tileRows,
      int row,
      int from,
      int k,
      int inTile,
      Floats out,
      int at,
      int stride) {
    int block = panels.scales().block();
    int tile = (row * panels.columns()) + (from + k) * tileRows;
    s.sums.fill(0, tileRows * PANEL, 0f);
    kernels.tile(tileRows, s.tiles, tile, s.codes, k * PANEL, block, s.sums, 0, PANEL);
    if (panels.wide()) {
      s.highSums.fill(0, tileRows * PANEL, 0f);
      kernels.tile(tileRows, s.tiles, tile, s.highCodes, k * PANEL, block, s.highSums, 0, PANEL);
    }
    kernels.addScaled(
        inTile,
        s.sums,
        panels.wide() ? s.highSums : null,
        s.scales,
        k / block * panels.scales().parts() * PANEL,
        s.rowScales,
        panels.scales().minima() ? s.rowMinima : null,
        out,
        at,
        stride);
  }

  /**
   * Widens rows to floats and interleaves them tile by tile. The last tile is filled with rows of
   * zeros.
   */
  private static void interleave(
      Scratch s, IntegerRows rows, int[] numbers, int number, int count, int tileRows) {
    if (s.source == rows
        && s.version == rows.version()
        && s.numbers == numbers
        && s.number == number
        && s.count == count) {
      return;
    }
    s.source = rows;
    s.version = rows.version();
    s.numbers = numbers;
    s.number = number;
    s.count = count;
    int columns = rows.columns();
    if (count == 1 && s.row.length < columns) {
      s.row = new int[columns];
      s.rowSums = new float[columns / 16 * PANEL];
      s.panelScales = new float[columns / 16 * 2 * PANEL];
    }
    int filled = (count + tileRows - 1) / tileRows * tileRows;
    if (s.tiles.length() < filled * columns) {
      s.tiles = Floats.allocate(filled * columns);
    }
    for (int row = 0; row < filled; row++) {
      int to = row / tileRows * tileRows * columns + row % tileRows;
      if (row < count) {
        widen(rows, numbers[number + row], s.tiles, to, tileRows);
      } else {
        for (int k = 0; k < columns; k++) {
          s.tiles.set(to + k * tileRows, 0);
        }
      }
    }
    for (int k = 0; count == 1 && k < columns; k++) {
      s.row[k] = (int) s.tiles.get(k);
    }
  }

  private static void widen(IntegerRows rows, int row, Floats tiles, int to, int stride) {
    int pairs = rows.columns() / 2;
    for (int i = 0; i < pairs; i += 2) {
      int even = rows.pairs.bits(row * pairs + i);
      int odd = rows.pairs.bits(row * pairs + i + 1);
      int at = to + 2 * i * stride;
      tiles.set(at, (short) even);
      tiles.set(at + stride, (short) odd);
      tiles.set(at + 2 * stride, even >> 16);
      tiles.set(at + 3 * stride, odd >> 16);
    }
  }
}
