package io.radixflow.kernels.cpu.kernel;

/**
 * The exponential of a float, accurate to 2 units in the last place. It uses only operations that
 * round the same way in scalar and vector code.
 *
 * <p>x = n ln 2 + r with |r| ≤ ln 2 / 2 (Cody and Waite's two-part reduction). A polynomial of
 * degree 6 gives e^r, and the result is scaled by 2^n. Arguments are clamped to [{@link #LOWEST},
 * {@link #HIGHEST}], so that results are normal and finite.
 */
final class Exponential {

  static final float LOWEST = -87f;
  static final float HIGHEST = 88f;
  static final float LOG2_E = 1.44269504f;

  /**
   * Adding and then subtracting 1.5 · 2^23 rounds to an integer. The low bits of the sum are that
   * integer.
   */
  static final float ROUNDING = 12582912f;

  static final float MINUS_LN2_HIGH = -0.693359375f;
  static final float MINUS_LN2_LOW = 2.12194440e-4f;
  static final float C6 = 1.3981999507e-3f;
  static final float C5 = 8.3334519073e-3f;
  static final float C4 = 4.1665795894e-2f;
  static final float C3 = 1.6666665459e-1f;
  static final float C2 = 0.5f;

  /**
   * Factors of the tanh approximation of gelu: twice the square root of 2 / pi, and that times
   * 0.044715.
   */
  static final float GELU_LINE = 1.5957691216f;

  static final float GELU_CUBE = 0.0713548163f;

  /** The sigmoid of this times x approximates the normal distribution function. */
  static final float SIGMOID_SLOPE = 1.702f;

  private Exponential() {}

  static float exp(float value) {
    float x = Math.min(Math.max(value, LOWEST), HIGHEST);
    float shifted = Fma.fma(x, LOG2_E, ROUNDING);
    float n = shifted - ROUNDING;
    float r = Fma.fma(n, MINUS_LN2_LOW, Fma.fma(n, MINUS_LN2_HIGH, x));
    float p = Fma.fma(C6, r, C5);
    p = Fma.fma(p, r, C4);
    p = Fma.fma(p, r, C3);
    p = Fma.fma(p, r, C2);
    p = Fma.fma(p, r, 1f);
    p = Fma.fma(p, r, 1f);
    int exponent = (Float.floatToRawIntBits(shifted) + 127) << 23;
    return p * Float.intBitsToFloat(exponent);
  }
}
