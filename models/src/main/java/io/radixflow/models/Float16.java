package io.radixflow.models;

/**
 * Conversions to and from IEEE 754 binary16. They use only integer and float arithmetic, so results
 * are the same on every JDK since 17.
 */
public final class Float16 {

  /** 2^112: the difference of the exponent biases of binary32 and binary16. */
  public static final float REBIAS = 0x1p112f;

  private Float16() {}

  /** Widens exactly, including subnormals, infinities and NaN. */
  public static float toFloat(short half) {
    int magnitude = half & 0x7fff;
    float value = Float.intBitsToFloat(magnitude << 13) * REBIAS;
    int bits = Float.floatToRawIntBits(value);
    if (magnitude >= 0x7c00) {
      bits |= 0x7f800000;
    }
    return Float.intBitsToFloat(bits | (half & 0x8000) << 16);
  }

  /**
   * Rounds to nearest, ties to even. Magnitudes above the range become the largest finite value, so
   * that one outlier in a KV page does not ruin its conversation.
   */
  public static short fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      return (short) (sign | 0x7e00);
    }
    if (magnitude >= 0x477ff000) {
      return (short) (sign | 0x7bff);
    }
    if (magnitude < 0x38800000) {
      // The unit in the last place of 0.5 is the smallest subnormal half, so the addition rounds.
      int rounded = Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) + 0.5f);
      return (short) (sign | rounded - 0x3f000000);
    }
    int rounded = magnitude + 0xfff + (magnitude >>> 13 & 1);
    return (short) (sign | (rounded - 0x38000000) >>> 13);
  }
}
