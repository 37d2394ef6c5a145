package io.radixflow.models.tensor;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.Float16;
import io.radixflow.models.Float8;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;

/**
 * Converts the blocks of a row to floats with the formulas of {@link TensorType}. Reads are
 * absolute and little-endian. The position of the buffer does not move, so that threads may share
 * it.
 */
final class Dequantizer {
  private static final Set<TensorType> BY_CODES =
      EnumSet.of(
          TensorType.Q5_0,
          TensorType.Q5_1,
          TensorType.Q2_K,
          TensorType.Q3_K,
          TensorType.IQ4_NL,
          TensorType.IQ4_XS,
          TensorType.MXFP4);

  private Dequantizer() {}

  /**
   * Converts {@code count} weights, a whole number of blocks, from byte {@code at} on.
   *
   * @param source little-endian bytes
   */
  static void dequantize(
      TensorType type, ByteBuffer source, int at, int count, float[] target, int offset) {
    if (BY_CODES.contains(type)) {
      byCodes(type, source, at, count, target, offset);
      return;
    }
    int blocks = count / type.blockElements();
    for (int b = 0; b < blocks; b++) {
      int from = at + b * type.blockBytes();
      int to = offset + b * type.blockElements();
      switch (type) {
        case F32 -> target[to] = source.getFloat(from);
        case F16 -> target[to] = Float16.toFloat(source.getShort(from));
        case BF16 -> target[to] = Float.intBitsToFloat(source.getShort(from) << 16);
        case Q8_0 -> q8(source, from, target, to);
        case Q4_0 -> q40(source, from, target, to);
        case Q4_1 -> q41(source, from, target, to);
        case Q4_K -> q4k(source, from, target, to);
        case Q5_K -> q5k(source, from, target, to);
        case Q6_K -> q6k(source, from, target, to);
        case INT4 -> int4(source, from, target, to);
        case INT8 -> {
          for (int i = 0; i < 32; i++) {
            target[to + i] = source.get(from + 4 + i) * source.getFloat(from);
          }
        }
        case FP8 -> {
          for (int i = 0; i < 32; i++) {
            target[to + i] = Float8.toFloat(source.get(from + 4 + i)) * source.getFloat(from);
          }
        }
        default -> throw new AssertionError(type);
      }
    }
  }

  private static void byCodes(
      TensorType type, ByteBuffer source, int at, int count, float[] target, int offset) {
    BlockCodes row = new BlockCodes(type, count);
    int bytes = count / type.blockElements() * type.blockBytes();
    row.read(source.slice(at, bytes).order(source.order()));
    for (int i = 0; i < count; i++) {
      float product = row.codes[i] * row.scales[i / row.block];
      float minimum = row.minima[i / row.block];
      target[offset + i] = minimum == 0 ? product : product + minimum;
    }
  }

  private static void q8(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at);
    for (int i = 0; i < 32; i++) {
      target[to + i] = source.get(at + 2 + i) * d;
    }
  }

  private static void q40(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at);
    for (int i = 0; i < 16; i++) {
      int q = source.get(at + 2 + i);
      target[to + i] = ((q & 15) - 8) * d;
      target[to + i + 16] = ((q >> 4 & 15) - 8) * d;
    }
  }

  private static void q41(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at);
    float m = half(source, at + 2);
    for (int i = 0; i < 16; i++) {
      int q = source.get(at + 4 + i);
      target[to + i] = Math.fma(q & 15, d, m);
      target[to + i + 16] = Math.fma(q >> 4 & 15, d, m);
    }
  }

  private static void int4(ByteBuffer source, int at, float[] target, int to) {
    float d = source.getFloat(at);
    float m = source.getFloat(at + 4);
    for (int i = 0; i < 16; i++) {
      int q = source.get(at + 8 + i);
      target[to + i] = Math.fma(q & 15, d, m);
      target[to + i + 16] = Math.fma(q >> 4 & 15, d, m);
    }
  }

  private static void q4k(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at);
    float e = half(source, at + 2);
    for (int j = 0; j < 8; j++) {
      float scale = d * scale(source, at + 4, j);
      float minimum = -(e * minimum(source, at + 4, j));
      int nibbles = at + 16 + j / 2 * 32;
      int shift = (j & 1) * 4;
      for (int i = 0; i < 32; i++) {
        int q = source.get(nibbles + i) >> shift & 15;
        target[to + j * 32 + i] = Math.fma(q, scale, minimum);
      }
    }
  }

  private static void q5k(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at);
    float e = half(source, at + 2);
    for (int j = 0; j < 8; j++) {
      float scale = d * scale(source, at + 4, j);
      float minimum = -(e * minimum(source, at + 4, j));
      int nibbles = at + 48 + j / 2 * 32;
      int shift = (j & 1) * 4;
      for (int i = 0; i < 32; i++) {
        int fifth = source.get(at + 16 + i) >> j & 1;
        int q = source.get(nibbles + i) >> shift & 15 | fifth << 4;
        target[to + j * 32 + i] = Math.fma(q, scale, minimum);
      }
    }
  }

  /**
   * The six-bit scale of sub-block j. Sub-blocks 4 to 7 have their low nibbles in bytes 8 to 11 of
   * the 12.
   */
  private static int scale(ByteBuffer source, int at, int j) {
    if (j < 4) {
      return source.get(at + j) & 63;
    }
    return source.get(at + j + 4) & 15 | (source.get(at + j - 4) >> 6 & 3) << 4;
  }

  private static int minimum(ByteBuffer source, int at, int j) {
    if (j < 4) {
      return source.get(at + j + 4) & 63;
    }
    return source.get(at + j + 4) >> 4 & 15 | (source.get(at + j) >> 6 & 3) << 4;
  }

  private static void q6k(ByteBuffer source, int at, float[] target, int to) {
    float d = half(source, at + 208);
    for (int i = 0; i < 256; i++) {
      int group = i >> 5;
      int half = group >> 2;
      int column = i & 31;
      int low = source.get(at + half * 64 + (group & 1) * 32 + column) >> (group & 2) * 2 & 15;
      int high = source.get(at + 128 + half * 32 + column) >> (group & 3) * 2 & 3;
      float scale = d * source.get(at + 192 + (i >> 4));
      target[to + i] = scale * ((low | high << 4) - 32);
    }
  }

  private static float half(ByteBuffer source, int at) {
    return Float16.toFloat(source.getShort(at));
  }
}
