package io.radixflow.kernels.model;

/** 8-bit floats of four exponent and three mantissa bits (E4M3FN): up to 448, without infinity. */
public final class Float8 {

  /** 2^120: the difference of the exponent biases of binary32 and E4M3. */
  public static final float REBIAS = 0x1p120f;

  private Float8() {}

  /** Widens exactly, subnormals and NaN included. */
  public static float toFloat(byte bits) {
    if (isNaN(bits)) {
      return Float.NaN;
    }
    float magnitude = Float.intBitsToFloat((bits & 0x7f) << 20) * REBIAS;
    return bits < 0 ? -magnitude : magnitude;
  }

  /** Returns whether all bits but the sign are set. */
  public static boolean isNaN(byte bits) {
    return (bits & 0x7f) == 0x7f;
  }
}
