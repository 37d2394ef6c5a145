package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.CodeForm.BLOCK;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.models.TensorType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Moves rows of the most common types into panels word by word, without unpacking their codes. This
 * is several times as fast as {@link io.radixflow.models.BlockCodes}. {@link TensorType} describes
 * the layouts.
 */
final class WordRows {

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int LOW = 0x0f0f0f0f;
  private static final int EXPONENT = 0x7c00;
  private static final int UNIT = 256;

  private WordRows() {}

  /** Returns whether {@link #fill} can move rows of a type. */
  static boolean has(TensorType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q4_K, Q6_K, Q8_0 -> true;
      default -> false;
    };
  }

  /**
   * Fills one lane of a panel.
   *
   * @param first index of the row's first byte
   * @return whether all scales and minima are finite
   */
  static boolean fill(
      TensorType type, byte[] row, int first, BlockPanels target, int panel, int lane) {
    int[] codes = target.codes();
    BlockScales scales = target.scales();
    int at = target.codesAt(panel, 0) + lane;
    int exponents = 0;
    int columns = target.columns();
    for (int column = 0, from = first; column < columns; column += type.blockElements()) {
      int block = scales.at(panel, column / scales.block()) + lane;
      switch (type) {
        case Q4_0 -> {
          exponents |= half(row, from, scales, block);
          words(row, from + 2, 4, 0x88888888, codes, at);
        }
        case Q4_1 -> {
          exponents |= half(row, from, scales, block) | half(row, from + 2, scales, block + PANEL);
          words(row, from + 4, 4, 0, codes, at);
        }
        case Q8_0 -> {
          exponents |= half(row, from, scales, block);
          words(row, from + 2, 8, 0, codes, at);
        }
        default -> {
          int unit = scales.unitsAt(panel, column / UNIT) + lane;
          exponents |=
              type == TensorType.Q4_K
                  ? q4k(row, from, scales, block, unit, codes, at)
                  : q6k(row, from, scales, block, unit, codes, at);
        }
      }
      from += type.blockBytes();
      at += type.blockElements() / BLOCK * target.form().words() * PANEL;
    }
    return (exponents & 0x8000) == 0;
  }

  /** Moves a binary16. Bit 15 of the result is set if the value is not finite. */
  private static int half(byte[] row, int from, BlockScales scales, int at) {
    short value = (short) SHORT.get(row, from);
    scales.halves()[at] = value;
    return notFinite(value);
  }

  /** Adding the lowest exponent bit carries into bit 15 if the exponent is all ones. */
  private static int notFinite(short value) {
    return (value & EXPONENT) + 0x400;
  }

  private static void words(byte[] row, int from, int count, int flipped, int[] codes, int at) {
    for (int w = 0; w < count; w++) {
      codes[at + w * PANEL] = (int) INT.get(row, from + 4 * w) ^ flipped;
    }
  }

  private static int q4k(
      byte[] row, int from, BlockScales scales, int block, int unit, int[] codes, int at) {
    short scale = (short) SHORT.get(row, from);
    short minimum = (short) SHORT.get(row, from + 2);
    scales.halves()[unit] = scale;
    scales.halves()[unit + PANEL] = (short) (minimum ^ 0x8000);
    for (int sub = 0; sub < 8; sub++) {
      int to = block + sub * 2 * PANEL;
      scales.factors()[to] = (byte) sixBits(row, from + 4, sub, 0);
      scales.factors()[to + PANEL] = (byte) sixBits(row, from + 4, sub, 4);
    }
    for (int group = 0; group < 4; group++) {
      int to = at + group * 8 * PANEL;
      for (int w = 0; w < 4; w++) {
        int first = (int) INT.get(row, from + 16 + group * 32 + 4 * w);
        int second = (int) INT.get(row, from + 32 + group * 32 + 4 * w);
        codes[to + w * PANEL] = first & LOW | (second & LOW) << 4;
        codes[to + (4 + w) * PANEL] = first >>> 4 & LOW | second & ~LOW;
      }
    }
    return notFinite(scale) | notFinite(minimum);
  }

  /** Reads the scale ({@code part} 0) or minimum ({@code part} 4) of a sub-block from 12 bytes. */
  private static int sixBits(byte[] row, int from, int sub, int part) {
    if (sub < 4) {
      return row[from + part + sub] & 63;
    }
    int low = row[from + 4 + sub] >> part & 15;
    int high = row[from + part + sub - 4] >> 6 & 3;
    return low | high << 4;
  }

  private static int q6k(
      byte[] row, int from, BlockScales scales, int block, int unit, int[] codes, int at) {
    short scale = (short) SHORT.get(row, from + 208);
    scales.halves()[unit] = scale;
    for (int sub = 0; sub < 16; sub++) {
      scales.factors()[block + sub * PANEL] = row[from + 192 + sub];
    }
    for (int block32 = 0; block32 < 8; block32++) {
      sixes(row, from, block32, codes, at + block32 * CodeForm.SIX.words() * PANEL);
    }
    return notFinite(scale);
  }

  /** Moves 32 codes of 0 to 63. Flipping their highest bit subtracts 32. */
  private static void sixes(byte[] row, int from, int number, int[] codes, int at) {
    int half = number / 4;
    int low = from + half * 64 + number % 2 * 32;
    int high = from + 128 + half * 32;
    int nibble = number % 4 / 2 * 4;
    int bits = number % 4 * 2;
    for (int w = 0; w < 4; w++) {
      int first = (int) INT.get(row, low + 4 * w) >>> nibble & LOW;
      int second = (int) INT.get(row, low + 16 + 4 * w) >>> nibble & LOW;
      codes[at + w * PANEL] = first | second << 4;
    }
    for (int part = 0; part < 2; part++) {
      int highest = 0;
      for (int w = 0; w < 4; w++) {
        int two = (int) INT.get(row, high + part * 16 + 4 * w) >>> bits & 0x03030303 ^ 0x02020202;
        highest |= CodeForm.highest(two << 4) << 4 * w;
      }
      codes[at + (4 + part) * PANEL] = highest;
    }
  }
}
