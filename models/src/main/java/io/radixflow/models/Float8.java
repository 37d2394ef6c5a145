package io.radixflow.models;

/**
 * Conversions to and from 8-bit floats with four exponent bits and three mantissa bits (E4M3FN):
 * numbers up to 448, without infinity.
 */
public final class Float8 {

  /** 2^120: the difference of the exponent biases of binary32 and E4M3. */
  public static final float REBIAS = 0x1p120f;

  /** The largest number. */
  public static final float MAX = 448;

  /** The smallest normal number. */
  private static final float MIN_NORMAL = 0x1p-6f;

  private Float8() {}

  /** Widens exactly, including subnormals and NaN. */
  public static float toFloat(byte bits) {
    if (isNaN(bits)) {
      return Float.NaN;
    }
    float magnitude = Float.intBitsToFloat((bits & 0x7f) << 20) * REBIAS;
    return bits < 0 ? -magnitude : magnitude;
  }

  /** Rounds to nearest, ties to even; magnitudes above 448 become 448, and NaN remains NaN. */
  public static byte fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 24 & 0x80;
    if (Float.isNaN(value)) {
      return (byte) (sign | 0x7f);
    }
    float magnitude = Math.min(Math.abs(value), MAX);
    if (magnitude < MIN_NORMAL) {
      return (byte) (sign | Math.round(Math.rint(magnitude * 0x1p9)));
    }
    int code = Float.floatToRawIntBits(magnitude);
    return (byte) (sign | ((code + 0x7ffff + (code >>> 20 & 1)) >>> 20) - (120 << 3));
  }

  /**
   * Returns the code of a vector's scale, in E8M0 of the OCP microscaling formats. The scale is the
   * smallest power of two with which no element exceeds 448. For a vector that is not finite the
   * code is 255, which {@link #scale} turns into infinity.
   *
   * @param magnitude the bits of the largest magnitude; the bits of NaN are greater than all others
   */
  public static int scaleCode(int magnitude) {
    int exponent = magnitude >>> 23;
    if (exponent == 255) {
      return 255;
    }
    return Math.max(1, exponent - 8 + ((magnitude & 0x7fffff) > 0x600000 ? 1 : 0));
  }

  /** The scale that a code of {@link #scaleCode} means. Byte 0 means that there is no scale. */
  public static float scale(byte code) {
    return Float.intBitsToFloat((code & 0xff) << 23);
  }

  /** The inverse of the scale with a code, for a finite vector. */
  public static float inverseScale(int code) {
    return Float.intBitsToFloat((254 - code) << 23);
  }

  /** Returns whether all bits except the sign are set. */
  public static boolean isNaN(byte bits) {
    return (bits & 0x7f) == 0x7f;
  }
}
