package io.radixflow.kernels.cpu;

import io.radixflow.models.Float16;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A tensor of random blocks, the same on every machine, with a dequantiser written element by
 * element from the format's definition.
 */
public final class SyntheticTensor implements Tensor {

  private static final int[] IQ4 = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  private static final double[] FP4 = {
    0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6
  };

  private final String name;
  private final TensorType type;
  private final int rows;
  private final int columns;
  private final byte[] bytes;

  /**
   * @param size about the largest magnitude of a weight
   * @param center what the weights of float types vary around
   */
  public SyntheticTensor(
      String name, TensorType type, int rows, int columns, float size, float center, long seed) {
    this(name, type, rows, columns);
    Mix random = new Mix(seed ^ name.hashCode());
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < bytes.length; at += type.blockBytes()) {
      for (int i = 0; i < type.blockBytes(); i++) {
        out.put(at + i, (byte) random.next());
      }
      fill(out, at, size, center, random);
    }
  }

  /** A tensor of scales about {@code size}, all of whose other bytes are the same. */
  static SyntheticTensor ofOneByte(
      String name, TensorType type, int rows, int columns, float size, byte value) {
    SyntheticTensor tensor = new SyntheticTensor(name, type, rows, columns);
    Mix random = new Mix(name.hashCode());
    ByteBuffer out = ByteBuffer.wrap(tensor.bytes).order(ByteOrder.LITTLE_ENDIAN);
    Arrays.fill(tensor.bytes, value);
    for (int at = 0; at < tensor.bytes.length; at += type.blockBytes()) {
      tensor.fill(out, at, size, 0f, random);
    }
    return tensor;
  }

  private SyntheticTensor(String name, TensorType type, int rows, int columns) {
    this.name = name;
    this.type = type;
    this.rows = rows;
    this.columns = columns;
    bytes = new byte[rows * (columns / type.blockElements()) * type.blockBytes()];
  }

  private void fill(ByteBuffer out, int at, float size, float center, Mix random) {
    float unit = size * (0.5f + 0.5f * random.unit());
    switch (type) {
      case F32 -> out.putFloat(at, center + size * (2 * random.unit() - 1));
      case F16 -> out.putShort(at, half(center + size * (2 * random.unit() - 1)));
      case BF16 ->
          out.putShort(
              at,
              (short) (Float.floatToRawIntBits(center + size * (2 * random.unit() - 1)) >>> 16));
      case Q8_0 -> out.putShort(at, half(unit / 127));
      case Q4_0 -> out.putShort(at, half(unit / 8));
      case Q4_1 -> out.putShort(at, half(unit / 8)).putShort(at + 2, half(-unit));
      case Q4_K -> out.putShort(at, half(unit / 250)).putShort(at + 2, half(unit / 31));
      case Q5_K -> out.putShort(at, half(unit / 500)).putShort(at + 2, half(unit / 31));
      case Q6_K -> out.putShort(at + 208, half(unit / 2000));
      case Q5_0 -> out.putShort(at, half(unit / 16));
      case Q5_1 -> out.putShort(at, half(unit / 16)).putShort(at + 2, half(-unit));
      case Q2_K -> out.putShort(at + 80, half(unit / 45)).putShort(at + 82, half(unit / 15));
      case Q3_K -> out.putShort(at + 108, half(unit / 128));
      case IQ4_NL -> out.putShort(at, half(unit / 127));
      case IQ4_XS -> out.putShort(at, half(unit / 127 / 32));
      case MXFP4 -> out.put(at, (byte) (124 + Math.getExponent(unit)));
      case INT4 -> out.putFloat(at, Float16.toFloat(half(unit / 8))).putFloat(at + 4, -unit);
      case INT8 -> out.putFloat(at, unit / 127);
      case FP8 -> {
        out.putFloat(at, unit / 448);
        for (int i = 4; i < type.blockBytes(); i++) {
          // All bits but the sign are no number.
          out.put(at + i, (byte) (out.get(at + i) & (random.next() % 2 == 0 ? 0xfe : 0xfb)));
        }
      }
    }
  }

  private static short half(float value) {
    return Float16.fromFloat(value);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public TensorType type() {
    return type;
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public ByteBuffer rows(int first, int count) {
    int rowBytes = columns / type.blockElements() * type.blockBytes();
    return ByteBuffer.wrap(bytes, first * rowBytes, count * rowBytes)
        .slice()
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void dequantize(int row, float[] target, int offset) {
    ByteBuffer in = rows(row, 1);
    for (int k = 0; k < columns; k++) {
      int base = k / type.blockElements() * type.blockBytes();
      target[offset + k] = (float) element(in, base, k % type.blockElements());
    }
  }

  private double element(ByteBuffer in, int base, int i) {
    double d = type == TensorType.F32 ? 0 : halfAt(in, base);
    return switch (type) {
      case F32 -> in.getFloat(base);
      case F16 -> d;
      case BF16 -> Float.intBitsToFloat(in.getShort(base) << 16);
      case Q8_0 -> d * in.get(base + 2 + i);
      case Q5_0 -> d * (nibble(in, base + 6 + i % 16, i / 16) + fifth(in, base + 2, i) - 16);
      case Q5_1 ->
          d * (nibble(in, base + 8 + i % 16, i / 16) + fifth(in, base + 4, i))
              + halfAt(in, base + 2);
      case Q2_K ->
          halfAt(in, base + 80) * nibble(in, base + i / 16, 0) * twoBits(in, base + 16, i)
              - halfAt(in, base + 82) * nibble(in, base + i / 16, 1);
      case Q3_K -> {
        int sub = i / 16;
        int scale = nibble(in, base + 96 + sub % 8, sub / 8);
        scale += (in.get(base + 104 + sub % 4) >> sub / 4 * 2 & 3) * 16 - 32;
        int third = in.get(base + i % 32) >> i / 32 & 1;
        yield halfAt(in, base + 108) * scale * (twoBits(in, base + 32, i) + 4 * third - 4);
      }
      case IQ4_NL -> d * IQ4[nibble(in, base + 2 + i % 16, i / 16)];
      case IQ4_XS -> {
        int sub = i / 32;
        int scale = nibble(in, base + 4 + sub / 2, sub % 2);
        scale += (in.getShort(base + 2) >> 2 * sub & 3) * 16 - 32;
        yield d * scale * IQ4[nibble(in, base + 8 + sub * 16 + i % 16, i % 32 / 16)];
      }
      case MXFP4 ->
          StrictMath.pow(2, (in.get(base) & 255) - 127)
              * FP4[nibble(in, base + 1 + i % 16, i / 16)];
      case INT4 ->
          Math.fma(
              (float) nibble(in, base + 8 + i % 16, i / 16),
              in.getFloat(base),
              in.getFloat(base + 4));
      case INT8 -> (double) in.getFloat(base) * in.get(base + 4 + i);
      case FP8 -> (double) in.getFloat(base) * float8(in.get(base + 4 + i));
      case Q4_0 -> d * (nibble(in, base + 2 + i % 16, i / 16) - 8);
      case Q4_1 -> d * nibble(in, base + 4 + i % 16, i / 16) + halfAt(in, base + 2);
      case Q4_K ->
          d
                  * sixBits(in, base, i / 32, true)
                  * nibble(in, base + 16 + i / 64 * 32 + i % 32, i / 32 % 2)
              - halfAt(in, base + 2) * sixBits(in, base, i / 32, false);
      case Q5_K -> {
        int code = nibble(in, base + 48 + i / 64 * 32 + i % 32, i / 32 % 2);
        code += (in.get(base + 16 + i % 32) >> i / 32 & 1) * 16;
        yield d * sixBits(in, base, i / 32, true) * code
            - halfAt(in, base + 2) * sixBits(in, base, i / 32, false);
      }
      case Q6_K -> {
        int half = i / 128;
        int within = i % 128;
        int low = nibble(in, base + half * 64 + within % 64, within / 64);
        int high = in.get(base + 128 + half * 32 + within % 32) >> within / 32 * 2 & 3;
        yield halfAt(in, base + 208) * in.get(base + 192 + i / 16) * (low + 16 * high - 32);
      }
    };
  }

  private static double float8(int bits) {
    int exponent = bits >> 3 & 15;
    int mantissa = exponent == 0 ? bits & 7 : 8 + (bits & 7);
    double magnitude = mantissa * StrictMath.pow(2, Math.max(exponent, 1) - 10);
    return bits < 0 ? -magnitude : magnitude;
  }

  private static int fifth(ByteBuffer in, int at, int i) {
    return (in.getInt(at) >>> i & 1) * 16;
  }

  private static int twoBits(ByteBuffer in, int at, int i) {
    return in.get(at + i / 128 * 32 + i % 32) >> i % 128 / 32 * 2 & 3;
  }

  private static double halfAt(ByteBuffer in, int at) {
    int bits = in.getShort(at) & 0xffff;
    int exponent = bits >> 10 & 31;
    double magnitude =
        exponent == 0
            ? (bits & 1023) * 0x1p-24
            : (1024 + (bits & 1023)) * StrictMath.pow(2, exponent - 25);
    return bits >> 15 == 0 ? magnitude : -magnitude;
  }

  private static int nibble(ByteBuffer in, int at, int high) {
    return in.get(at) >> 4 * high & 15;
  }

  private static int sixBits(ByteBuffer in, int base, int j, boolean scale) {
    int q = base + 4;
    int own = in.get(q + j + (scale ? 0 : 4)) & 0xff;
    if (j < 4) {
      return own & 63;
    }
    int shared = in.get(q + j + 4) & 0xff;
    return scale
        ? shared & 15 | (in.get(q + j - 4) & 0xff) >> 6 << 4
        : shared >> 4 | (in.get(q + j) & 0xff) >> 6 << 4;
  }

  /** SplitMix64 (Steele et al. 2014). */
  public static final class Mix {
    private long state;

    public Mix(long seed) {
      state = seed;
    }

    public int next() {
      long z = state += 0x9e3779b97f4a7c15L;
      z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
      z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
      return (int) (z >>> 32);
    }

    /** Returns a number in [0, 1). */
    public float unit() {
      return (next() >>> 8) * 0x1p-24f;
    }

    public int below(int bound) {
      return Integer.remainderUnsigned(next(), bound);
    }
  }
}
