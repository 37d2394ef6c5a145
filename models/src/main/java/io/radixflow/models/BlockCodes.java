package io.radixflow.models;

import java.nio.ByteBuffer;

/**
 * One row of a block-quantised tensor, split into codes, scales and minima. A weight is {@code code
 * * scale + minimum}. The product is exact in float unless the file stores the scale as a float.
 * ggml-common.h defines the block layouts. The codes of FP8 are bytes, which {@link Float8} widens.
 * An instance is reused row by row.
 */
public final class BlockCodes {

  /** Columns per unit of scales. */
  public static final int UNIT = 256;

  /** One code per column. */
  public final byte[] codes;

  /** Scales, one per {@link #block} columns. */
  public final float[] scales;

  /** Minima, one per {@link #block} columns; zero if the type has no minima. */
  public final float[] minima;

  /** Columns per scale. */
  public final int block;

  /**
   * The integer factors of scales, one per {@link #block} columns, in types with {@value #UNIT}
   * columns per block. In these types a scale is the exact product of a factor and a unit. Empty in
   * other types.
   */
  public final byte[] scaleFactors;

  /** Factors of minima; zero if the type has no minima. */
  public final byte[] minimumFactors;

  /** Units of scales, one per {@value #UNIT} columns. */
  public final float[] scaleUnits;

  /** Units of minima, with the sign of the minima. */
  public final float[] minimumUnits;

  /**
   * The values of the codes of IQ4_NL and IQ4_XS, and of MXFP4. The values of MXFP4 are doubled,
   * and its scale is halved.
   */
  private static final byte[] IQ4 = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  private static final byte[] FP4 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = LOW_BITS << 7;
  private static final long LOW_NIBBLES = 15 * LOW_BITS;

  private final TensorType type;
  private final byte[] bytes;

  public BlockCodes(TensorType type, int columns) {
    this.type = type;
    block = type.scaleElements();
    codes = new byte[columns];
    scales = new float[columns / block];
    minima = new float[columns / block];
    int units = type.blockElements() == UNIT ? columns / UNIT : 0;
    scaleUnits = new float[units];
    minimumUnits = new float[units];
    scaleFactors = new byte[units * (UNIT / block)];
    minimumFactors = new byte[units * (UNIT / block)];
    bytes = new byte[type.blockBytes()];
  }

  /** The 16 values that the nibbles of a type select; empty if codes are numbers. */
  public static byte[] table(TensorType type) {
    return switch (type) {
      case IQ4_NL, IQ4_XS -> IQ4.clone();
      case MXFP4 -> FP4.clone();
      default -> new byte[0];
    };
  }

  public TensorType type() {
    return type;
  }

  /** Splits the row at the buffer's position and moves the position to the end of the row. */
  public void read(ByteBuffer row) {
    for (int column = 0; column < codes.length; column += type.blockElements()) {
      row.get(bytes);
      switch (type) {
        case Q4_0 -> readQ4(column, 2, -8f);
        case Q4_1 -> readQ4(column, 4, 0f);
        case Q8_0 -> readQ8(column);
        case Q5_0 -> readQ5(column, 2, 16);
        case Q5_1 -> readQ5(column, 4, 0);
        case Q2_K -> readQ2(column);
        case Q3_K -> readQ3(column);
        case IQ4_NL -> readTable(column, 2, IQ4, half(0));
        case IQ4_XS -> readIq4(column);
        case MXFP4 -> readTable(column, 1, FP4, Math.scalb(1f, (bytes[0] & 0xff) - 128));
        case Q4_K -> readK(column, 16, -1);
        case Q5_K -> readK(column, 48, 16);
        case Q6_K -> readQ6(column);
        case INT4 -> {
          scales[column / 32] = single(0);
          minima[column / 32] = single(4);
          splitNibbles(8, 16, column);
        }
        case INT8, FP8 -> {
          scales[column / 32] = single(0);
          System.arraycopy(bytes, 4, codes, column, 32);
        }
        default -> throw new IllegalArgumentException(type + " is not block-quantised");
      }
    }
  }

  private float half(int at) {
    return Float16.toFloat((short) (bytes[at] & 0xff | bytes[at + 1] << 8));
  }

  private float single(int at) {
    int low = bytes[at] & 0xff | (bytes[at + 1] & 0xff) << 8;
    return Float.intBitsToFloat(low | (bytes[at + 2] & 0xff) << 16 | bytes[at + 3] << 24);
  }

  private void readQ4(int column, int nibbles, float minimumInScales) {
    float scale = half(0);
    scales[column / 32] = scale;
    minima[column / 32] = minimumInScales == 0f ? half(2) : minimumInScales * scale;
    splitNibbles(nibbles, 16, column);
  }

  /** Low nibbles are the first {@code count} columns; high nibbles are the next. */
  private void splitNibbles(int at, int count, int column) {
    for (int i = 0; i < count; i += 8) {
      long pairs = EightBytes.get(bytes, at + i);
      EightBytes.set(codes, column + i, pairs & LOW_NIBBLES);
      EightBytes.set(codes, column + count + i, pairs >>> 4 & LOW_NIBBLES);
    }
  }

  private void readQ8(int column) {
    scales[column / 32] = half(0);
    System.arraycopy(bytes, 2, codes, column, 32);
  }

  /**
   * Q4_K and Q5_K: f16 scale of scales, f16 scale of minima, 8 pairs of 6-bit numbers in 12 bytes,
   * for Q5_K the fifth bits, then nibbles.
   */
  private void readK(int column, int nibbles, int fifthBits) {
    setUnits(column, half(0), -half(2));
    for (int sub = 0; sub < 8; sub++) {
      setFactors(column / 32 + sub, sixBits(sub, 0), sixBits(sub, 4));
    }
    for (int quarter = 0; quarter < 4; quarter++) {
      int first = column + quarter * 64;
      splitNibbles(nibbles + quarter * 32, 32, first);
      for (int i = 0; fifthBits >= 0 && i < 32; i += 8) {
        long bits = EightBytes.get(bytes, fifthBits + i) >>> 2 * quarter;
        long low = EightBytes.get(codes, first + i);
        long high = EightBytes.get(codes, first + 32 + i);
        EightBytes.set(codes, first + i, low | (bits & LOW_BITS) << 4);
        EightBytes.set(codes, first + 32 + i, high | (bits >>> 1 & LOW_BITS) << 4);
      }
    }
  }

  private void setUnits(int column, float scale, float minimum) {
    scaleUnits[column / UNIT] = scale;
    minimumUnits[column / UNIT] = minimum;
  }

  /** Sets the scale and minimum of a block whose unit is already set. */
  private void setFactors(int index, int scale, int minimum) {
    int unit = index * block / UNIT;
    scaleFactors[index] = (byte) scale;
    minimumFactors[index] = (byte) minimum;
    scales[index] = scaleUnits[unit] * scale;
    minima[index] = minimumUnits[unit] * minimum;
  }

  /**
   * Reads the scale ({@code offset} 0) or minimum ({@code offset} 4) of a sub-block from the 12
   * bytes at 4.
   */
  private int sixBits(int sub, int offset) {
    if (sub < 4) {
      return bytes[4 + offset + sub] & 63;
    }
    int low = bytes[8 + sub] >> offset & 15;
    int high = bytes[offset + sub] >> 6 & 3;
    return low | high << 4;
  }

  private void readQ6(int column) {
    setUnits(column, half(208), 0f);
    for (int i = 0; i < 16; i++) {
      setFactors(column / 16 + i, bytes[192 + i], 0);
    }
    for (int i = 0; i < 256; i += 8) {
      int group = i >> 5 & 3;
      long low = EightBytes.get(bytes, (i >> 7) * 64 + (group & 1) * 32 + (i & 31));
      long high = EightBytes.get(bytes, 128 + (i >> 7) * 32 + (i & 31));
      long code = low >>> (group >> 1) * 4 & LOW_NIBBLES | (high >>> group * 2 & 3 * LOW_BITS) << 4;
      // Subtracts 32 from each byte. The highest bit of each byte stops the borrow.
      EightBytes.set(codes, column + i, (code | HIGH_BITS) - 32 * LOW_BITS ^ HIGH_BITS);
    }
  }

  /** Q5_0 and Q5_1: the block has 32 fifth bits before the nibbles. */
  private void readQ5(int column, int fifthBits, int offset) {
    scales[column / 32] = half(0);
    minima[column / 32] = offset == 0 ? half(2) : 0f;
    splitNibbles(fifthBits + 4, 16, column);
    for (int i = 0; i < 32; i++) {
      int fifth = bytes[fifthBits + i / 8] >> i % 8 & 1;
      codes[column + i] = (byte) ((codes[column + i] | fifth << 4) - offset);
    }
  }

  private void readQ2(int column) {
    setUnits(column, half(80), -half(82));
    for (int i = 0; i < 16; i++) {
      setFactors(column / 16 + i, bytes[i] & 15, bytes[i] >> 4 & 15);
    }
    for (int i = 0; i < 256; i++) {
      codes[column + i] = (byte) pair(16, i);
    }
  }

  private void readQ3(int column) {
    setUnits(column, half(108), 0f);
    for (int i = 0; i < 16; i++) {
      int low = bytes[96 + i % 8] >> i / 8 * 4 & 15;
      int high = bytes[104 + i % 4] >> i / 4 * 2 & 3;
      setFactors(column / 16 + i, (low | high << 4) - 32, 0);
    }
    for (int i = 0; i < 256; i++) {
      int third = bytes[i & 31] >> (i >> 5) & 1;
      codes[column + i] = (byte) (pair(32, i) - 4 + 4 * third);
    }
  }

  /**
   * The two bits of column i. A byte has columns that are 32 apart, within each half of the block.
   */
  private int pair(int at, int i) {
    return bytes[at + (i >> 7) * 32 + (i & 31)] >> (i >> 5 & 3) * 2 & 3;
  }

  private void readTable(int column, int nibbles, byte[] table, float scale) {
    scales[column / 32] = scale;
    splitNibbles(nibbles, 16, column);
    for (int i = 0; i < 32; i++) {
      codes[column + i] = table[codes[column + i]];
    }
  }

  private void readIq4(int column) {
    setUnits(column, half(0), 0f);
    int high = bytes[2] & 0xff | (bytes[3] & 0xff) << 8;
    for (int sub = 0; sub < 8; sub++) {
      int scale = bytes[4 + sub / 2] >> sub % 2 * 4 & 15 | (high >> 2 * sub & 3) << 4;
      setFactors(column / 32 + sub, scale - 32, 0);
      readTable(column + sub * 32, 8 + sub * 16, IQ4, scales[column / 32 + sub]);
    }
  }
}
