package io.radixflow.kernels.cpu;

import io.radixflow.kernels.model.Float16;
import io.radixflow.kernels.model.TensorType;
import java.nio.ByteBuffer;

/**
 * One row of a block-quantised tensor taken apart: a weight is {@code code * scale + minimum},
 * where the product is exact in float (ggml-common.h has the block layouts). Reused row by row.
 */
final class BlockCodes {

  /** Codes, one a column. */
  final byte[] codes;

  /** Scales, one for each {@link #block} columns. */
  final float[] scales;

  /** Minima, one for each {@link #block} columns; zero where the type has none. */
  final float[] minima;

  /** Columns of a scale. */
  final int block;

  private final TensorType type;
  private final byte[] bytes;

  BlockCodes(TensorType type, int columns) {
    this.type = type;
    block = type == TensorType.Q6_K ? 16 : 32;
    codes = new byte[columns];
    scales = new float[columns / block];
    minima = new float[columns / block];
    bytes = new byte[type.blockBytes()];
  }

  /** Takes the row at the buffer's position apart and moves the position behind it. */
  void read(ByteBuffer row) {
    for (int column = 0; column < codes.length; column += type.blockElements()) {
      row.get(bytes);
      switch (type) {
        case Q4_0 -> readQ4(column, 2, -8f);
        case Q4_1 -> readQ4(column, 4, 0f);
        case Q8_0 -> readQ8(column);
        case Q4_K -> readK(column, 16, -1);
        case Q5_K -> readK(column, 48, 16);
        case Q6_K -> readQ6(column);
        default -> throw new IllegalArgumentException(type + " is not block-quantised");
      }
    }
  }

  private float half(int at) {
    return Float16.toFloat((short) (bytes[at] & 0xff | bytes[at + 1] << 8));
  }

  private void readQ4(int column, int nibbles, float minimumInScales) {
    float scale = half(0);
    scales[column / 32] = scale;
    minima[column / 32] = minimumInScales == 0f ? half(2) : minimumInScales * scale;
    splitNibbles(nibbles, 16, column);
  }

  /** Low nibbles are the first {@code count} columns, high nibbles the next. */
  private void splitNibbles(int at, int count, int column) {
    for (int i = 0; i < count; i++) {
      codes[column + i] = (byte) (bytes[at + i] & 15);
      codes[column + count + i] = (byte) (bytes[at + i] >> 4 & 15);
    }
  }

  private void readQ8(int column) {
    scales[column / 32] = half(0);
    System.arraycopy(bytes, 2, codes, column, 32);
  }

  /**
   * Q4_K and Q5_K: f16 scale of scales, f16 scale of minima, 8 pairs of 6 bits in 12 bytes, for
   * Q5_K the fifth bits, then nibbles.
   */
  private void readK(int column, int nibbles, int fifthBits) {
    float d = half(0);
    float dmin = half(2);
    for (int sub = 0; sub < 8; sub++) {
      scales[column / 32 + sub] = d * sixBits(sub, 0);
      minima[column / 32 + sub] = -(dmin * sixBits(sub, 4));
    }
    for (int quarter = 0; quarter < 4; quarter++) {
      int first = column + quarter * 64;
      splitNibbles(nibbles + quarter * 32, 32, first);
      for (int i = 0; fifthBits >= 0 && i < 32; i++) {
        int bits = bytes[fifthBits + i] >> 2 * quarter;
        codes[first + i] |= (byte) ((bits & 1) << 4);
        codes[first + 32 + i] |= (byte) ((bits & 2) << 3);
      }
    }
  }

  /** Scale ({@code offset} 0) or minimum (4) of a sub-block, from 12 bytes at 4. */
  private int sixBits(int sub, int offset) {
    if (sub < 4) {
      return bytes[4 + offset + sub] & 63;
    }
    int low = bytes[8 + sub] >> offset & 15;
    int high = bytes[offset + sub] >> 6 & 3;
    return low | high << 4;
  }

  private void readQ6(int column) {
    float d = half(208);
    for (int i = 0; i < 16; i++) {
      scales[column / 16 + i] = d * bytes[192 + i];
    }
    for (int i = 0; i < 256; i++) {
      int group = i >> 5 & 3;
      int low = bytes[(i >> 7) * 64 + (group & 1) * 32 + (i & 31)] >> (group >> 1) * 4 & 15;
      int high = bytes[128 + (i >> 7) * 32 + (i & 31)] >> group * 2 & 3;
      codes[column + i] = (byte) ((low | high << 4) - 32);
    }
  }
}
