package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.model.BlockCodes;
import io.radixflow.kernels.model.EightBytes;
import java.nio.ShortBuffer;
import java.util.Arrays;

/**
 * Writes rows into panels, where those of a panel lie interleaved: eight codes at a time, in longs.
 * Refuses weights that are not finite.
 *
 * <p>Belongs to one worker, whose buffers it has.
 */
final class PanelFiller {

  /** A scale above this may make an infinite weight of a finite code. */
  private static final float MOST_SCALE = Float.MAX_VALUE / 512;

  private static final int SQUARE = 8;
  private static final int TILE = 64;

  private final BlockCodes[] codes = new BlockCodes[SQUARE];
  private final long[] square = new long[SQUARE];
  private final short[] tile = new short[PANEL * TILE];
  private final ShortBuffer[] halves = new ShortBuffer[PANEL];
  private float[] row = new float[0];

  /** Fills a panel of {@code int[eighth of k][PANEL]} and {@code float[block][2][PANEL]}. */
  void nibbles(StackedRows source, int panel, int[] target, float[] scales) {
    int columns = source.columns();
    int codesAt = panel * columns / 8 * PANEL;
    int scalesAt = panel * columns / 32 * 2 * PANEL;
    for (int lane = 0; lane < source.lanes(panel); lane++) {
      int number = panel * PANEL + lane;
      codes[0] = source.codes(number, codes[0]);
      byte[] bytes = codes[0].codes;
      for (int eighth = 0; eighth < columns / 8; eighth++) {
        target[codesAt + eighth * PANEL + lane] = pack(EightBytes.get(bytes, eighth * 8));
      }
      scales(source, number, codes[0], scales, scalesAt + lane, true);
    }
  }

  /** Packs the low nibbles of eight bytes. */
  private static int pack(long bytes) {
    long pairs = (bytes | bytes >>> 4) & 0x00ff00ff00ff00ffL;
    long fours = (pairs | pairs >>> 8) & 0x0000ffff0000ffffL;
    return (int) (fours | fours >>> 16);
  }

  /** Fills a panel of {@code byte[k][PANEL]} and {@code float[block][1 or 2][PANEL]}. */
  void bytes(
      StackedRows source, int panel, int block, boolean minimum, byte[] target, float[] scales) {
    int columns = source.columns();
    int scalesAt = panel * (columns / block) * (minimum ? 2 : 1) * PANEL;
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes; lane += SQUARE) {
      int count = Math.min(SQUARE, lanes - lane);
      for (int i = 0; i < count; i++) {
        int number = panel * PANEL + lane + i;
        codes[i] = source.codes(number, codes[i]);
        scales(source, number, codes[i], scales, scalesAt + lane + i, minimum);
      }
      for (int k = 0; k < columns; k += SQUARE) {
        for (int i = 0; i < count; i++) {
          square[i] = EightBytes.get(codes[i].codes, k);
        }
        Arrays.fill(square, count, SQUARE, 0);
        transpose();
        int at = (panel * columns + k) * PANEL + lane;
        for (int i = 0; i < SQUARE; i++) {
          EightBytes.set(target, at + i * PANEL, square[i]);
        }
      }
    }
  }

  /**
   * Byte j of long i and byte i of long j change places: first in twos, then fours, then eights.
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
      StackedRows source, int number, BlockCodes row, float[] scales, int at, boolean minimum) {
    int stride = (minimum ? 2 : 1) * PANEL;
    for (int block = 0; block < row.scales.length; block++) {
      float scale = row.scales[block];
      if (!(Math.abs(scale) <= MOST_SCALE)) {
        throw source.notFinite(number, scale);
      }
      scales[at + block * stride] = scale;
      if (minimum) {
        if (!(Math.abs(row.minima[block]) <= MOST_SCALE)) {
          throw source.notFinite(number, row.minima[block]);
        }
        scales[at + block * stride + PANEL] = row.minima[block];
      }
    }
  }

  /** Fills a panel of {@code short[k][PANEL]} with floats of 16 bits. */
  void halves(StackedRows source, int panel, boolean brain, short[] target) {
    int columns = source.columns();
    int lanes = source.lanes(panel);
    for (int lane = 0; lane < lanes; lane++) {
      halves[lane] = source.bytes(panel * PANEL + lane).asShortBuffer();
    }
    // Added to an exponent of ones, its lowest bit carries into the sign.
    int exponent = brain ? 0x7f80 : 0x7c00;
    int lowest = brain ? 0x0080 : 0x0400;
    Arrays.fill(tile, (short) 0);
    for (int from = 0; from < columns; from += TILE) {
      int count = Math.min(TILE, columns - from);
      for (int lane = 0; lane < lanes; lane++) {
        halves[lane].get(from, tile, lane * TILE, count);
      }
      int carries = 0;
      for (int k = 0; k < count; k++) {
        int at = (panel * columns + from + k) * PANEL;
        for (int lane = 0; lane < PANEL; lane++) {
          short value = tile[lane * TILE + k];
          carries |= (value & exponent) + lowest;
          target[at + lane] = value;
        }
      }
      if ((carries & 0x8000) != 0) {
        refuseHalves(source, panel, lanes);
      }
    }
  }

  private void refuseHalves(StackedRows source, int panel, int lanes) {
    float[] values = new float[source.columns()];
    for (int lane = 0; lane < lanes; lane++) {
      int number = panel * PANEL + lane;
      source.dequantize(number, values);
      requireFinite(source, number, values);
    }
  }

  private static void requireFinite(StackedRows source, int number, float[] values) {
    for (float value : values) {
      if (!Float.isFinite(value)) {
        throw source.notFinite(number, value);
      }
    }
  }

  /** Fills a panel of {@code float[k][PANEL]}. */
  void floats(StackedRows source, int panel, float[] target) {
    int columns = source.columns();
    if (row.length != columns) {
      row = new float[columns];
    }
    for (int lane = 0; lane < source.lanes(panel); lane++) {
      int number = panel * PANEL + lane;
      source.dequantize(number, row);
      requireFinite(source, number, row);
      for (int k = 0; k < columns; k++) {
        target[(panel * columns + k) * PANEL + lane] = row[k];
      }
    }
  }
}
