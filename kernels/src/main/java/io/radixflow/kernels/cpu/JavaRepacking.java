package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.FloatPanels;
import io.radixflow.kernels.cpu.weights.HalfPanels;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.models.BlockCodes;
import io.radixflow.models.EightBytes;
import io.radixflow.models.Float16;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;

/**
 * Writes rows into panels in Java, for {@link PanelFiller}. It moves eight codes at a time, in
 * longs.
 *
 * <p>Each worker has its own instance, with its own buffers.
 */
final class JavaRepacking {

  private static final int SQUARE = 8;
  private static final int TILE = 64;

  private final PanelRows rows = new PanelRows();
  private final BlockCodes[] codes = new BlockCodes[SQUARE];
  private final long[] square = new long[SQUARE];
  private final short[] tile = new short[PANEL * TILE];
  private final ShortBuffer[] halves = new ShortBuffer[PANEL];
  private float[] row = new float[0];

  /**
   * Fills a panel.
   *
   * @param panel the panel of the source
   * @param to the panel of the target
   */
  void fill(StackedRows source, int panel, Panels target, int to) {
    if (target instanceof BlockPanels blocks) {
      codes(source, panel, blocks, to);
    } else if (target instanceof Float8Panels float8) {
      float8(source, panel, float8, to);
    } else if (target instanceof HalfPanels halves) {
      halves(source, panel, halves, to);
    } else {
      floats(source, panel, ((FloatPanels) target).values(), to);
    }
  }

  private void codes(StackedRows source, int panel, BlockPanels target, int to) {
    for (int lane = 0; lane < source.lanes(panel); lane++) {
      int number = panel * PANEL + lane;
      TensorType type = source.type(number);
      ByteBuffer from = rows.row(source, panel, lane);
      if (WordRows.has(type)
          && WordRows.fill(type, from.array(), from.position(), target, to, lane)) {
        continue;
      }
      takeApart(0, type, target.columns(), from);
      words(codes[0].codes, target.form(), target.codes(), target.codesAt(to, 0) + lane);
      scales(source, number, codes[0], target.scales(), to, lane);
    }
  }

  private void takeApart(int i, TensorType type, int columns, ByteBuffer from) {
    if (codes[i] == null || codes[i].type() != type || codes[i].codes.length != columns) {
      codes[i] = new BlockCodes(type, columns);
    }
    codes[i].read(from);
  }

  private static void words(byte[] row, CodeForm form, int[] target, int at) {
    if (form == CodeForm.BYTE) {
      for (int k = 0; k < row.length; k += 8, at += 2 * PANEL) {
        long eight = EightBytes.get(row, k);
        target[at] = (int) eight;
        target[at + PANEL] = (int) (eight >>> 32);
      }
      return;
    }
    if (form == CodeForm.SIX) {
      sixes(row, target, at);
      return;
    }
    // In signed codes, zero is the middle of the range. Flipping a nibble's highest bit makes it
    // the sign.
    long middle = form == CodeForm.SIGNED_NIBBLE ? 0x8888888888888888L : 0;
    for (int k = 0; k < row.length; k += k % 32 == 8 ? 24 : 8, at += 2 * PANEL) {
      long words = (EightBytes.get(row, k) | EightBytes.get(row, k + 16) << 4) ^ middle;
      target[at] = (int) words;
      target[at + PANEL] = (int) (words >>> 32);
    }
  }

  private static void sixes(byte[] row, int[] target, int at) {
    for (int k = 0; k < row.length; k += CodeForm.BLOCK, at += CodeForm.SIX.words() * PANEL) {
      for (int w = 0; w < 4; w += 2) {
        long first = EightBytes.get(row, k + 4 * w);
        long second = EightBytes.get(row, k + 16 + 4 * w);
        long low = first & 0x0f0f0f0f0f0f0f0fL | (second & 0x0f0f0f0f0f0f0f0fL) << 4;
        target[at + w * PANEL] = (int) low;
        target[at + (w + 1) * PANEL] = (int) (low >>> 32);
        for (int half = 0; half < 2; half++) {
          long codes = half == 0 ? first : second;
          int high = CodeForm.highest((int) codes) | CodeForm.highest((int) (codes >>> 32)) << 4;
          int to = at + (4 + half) * PANEL;
          target[to] = (w == 0 ? 0 : target[to]) | high << 4 * w;
        }
      }
    }
  }

  private void float8(StackedRows source, int panel, Float8Panels target, int to) {
    int columns = source.columns();
    float[] scales = target.scales();
    int scalesAt = to * (columns / Float8Panels.BLOCK) * PANEL;
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes; lane += SQUARE) {
      int count = Math.min(SQUARE, lanes - lane);
      for (int i = 0; i < count; i++) {
        int number = panel * PANEL + lane + i;
        takeApart(i, source.type(number), columns, rows.row(source, panel, lane + i));
        FiniteRows.requireScales(source, number, codes[i].scales);
        for (int block = 0; block < codes[i].scales.length; block++) {
          scales[scalesAt + block * PANEL + lane + i] = codes[i].scales[block];
        }
      }
      for (int k = 0; k < columns; k += SQUARE) {
        for (int i = 0; i < count; i++) {
          square[i] = EightBytes.get(codes[i].codes, k);
        }
        Arrays.fill(square, count, SQUARE, 0);
        transpose();
        int at = (to * columns + k) * PANEL + lane;
        for (int i = 0; i < SQUARE; i++) {
          EightBytes.set(target.codes(), at + i * PANEL, square[i]);
        }
      }
    }
  }

  /**
   * Transposes the square of bytes: byte j of long i and byte i of long j change places. Swaps
   * distances 1, 2 and 4 in turn.
   */
  private void transpose() {
    for (int i = 0; i < SQUARE; i += 2) {
      swap(i, 1, 0x00ff00ff00ff00ffL);
    }
    for (int i = 0; i < SQUARE; i += i % 4 == 1 ? 3 : 1) {
      swap(i, 2, 0x0000ffff0000ffffL);
    }
    for (int i = 0; i < SQUARE / 2; i++) {
      swap(i, 4, 0x00000000ffffffffL);
    }
  }

  private void swap(int i, int distance, long mask) {
    long changed = (square[i] >>> 8 * distance ^ square[i + distance]) & mask;
    square[i] ^= changed << 8 * distance;
    square[i + distance] ^= changed;
  }

  private static void scales(
      StackedRows source, int number, BlockCodes row, BlockScales target, int panel, int lane) {
    FiniteRows.requireScales(source, number, row.scales);
    FiniteRows.requireScales(source, number, row.minima);
    for (int part = 0; part < target.parts(); part++) {
      float[] values = part == 0 ? row.scales : row.minima;
      byte[] factors = part == 0 ? row.scaleFactors : row.minimumFactors;
      float[] units = part == 0 ? row.scaleUnits : row.minimumUnits;
      int stride = target.parts() * PANEL;
      int at = target.at(panel, 0) + part * PANEL + lane;
      for (int i = 0; i < values.length; i++, at += stride) {
        switch (target.form()) {
          case FLOAT -> target.floats()[at] = values[i];
          case HALF -> target.halves()[at] = Float16.fromFloat(values[i]);
          case FACTOR -> target.factors()[at] = factors[i];
        }
      }
      at = target.unitsAt(panel, 0) + part * PANEL + lane;
      for (int i = 0; i < units.length && target.form() == BlockScales.Form.FACTOR; i++) {
        target.halves()[at + i * stride] = Float16.fromFloat(units[i]);
      }
    }
  }

  private void halves(StackedRows source, int panel, HalfPanels target, int to) {
    boolean bfloat16 = target.bfloat16();
    short[] values = target.values();
    int columns = source.columns();
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes; lane++) {
      halves[lane] = rows.row(source, panel, lane).asShortBuffer();
    }
    // Adding the lowest exponent bit carries into the sign if the exponent is all ones.
    int exponent = bfloat16 ? 0x7f80 : 0x7c00;
    int lowest = bfloat16 ? 0x0080 : 0x0400;
    Arrays.fill(tile, (short) 0);
    for (int from = 0; from < columns; from += TILE) {
      int count = Math.min(TILE, columns - from);
      for (int lane = 0; lane < lanes; lane++) {
        halves[lane].get(from, tile, lane * TILE, count);
      }
      int carries = 0;
      for (int k = 0; k < count; k++) {
        int at = (to * columns + from + k) * PANEL;
        for (int lane = 0; lane < PANEL; lane++) {
          short value = tile[lane * TILE + k];
          carries |= (value & exponent) + lowest;
          values[at + lane] = value;
        }
      }
      if ((carries & 0x8000) != 0) {
        throw FiniteRows.error(source, panel * PANEL, lanes);
      }
    }
  }

  private void floats(StackedRows source, int panel, float[] target, int to) {
    int columns = source.columns();
    if (row.length != columns) {
      row = new float[columns];
    }
    for (int lane = 0; lane < source.lanes(panel); lane++) {
      int number = panel * PANEL + lane;
      if (source.type(number) == TensorType.F32) {
        rows.row(source, panel, lane).asFloatBuffer().get(row);
      } else {
        source.dequantize(number, row);
        rows.skip(lane);
      }
      FiniteRows.requireWeights(source, number, row);
      for (int k = 0; k < columns; k++) {
        target[(to * columns + k) * PANEL + lane] = row[k];
      }
    }
  }
}
