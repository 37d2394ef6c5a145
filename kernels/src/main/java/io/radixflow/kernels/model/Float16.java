package io.radixflow.kernels.model;

/** IEEE 754 binary16 to float, without JDK 20's {@code Float.float16ToFloat}. */
final class Float16 {
  private static final float SUBNORMAL_UNIT = 0x1p-24f;

  private Float16() {}

  /** The exact value of the 16 bits; NaN payloads are kept. */
  static float toFloat(short bits) {
    int sign = (bits & 0x8000) << 16;
    int exponent = bits >>> 10 & 0x1f;
    int fraction = bits & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * SUBNORMAL_UNIT;
      return sign == 0 ? magnitude : -magnitude;
    }
    int wide = exponent == 0x1f ? 0xff : exponent + 112;
    return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
  }
}
