package io.radixflow.kernels.cpu.kernel;

/**
 * The tail of the normal distribution, 1 - Φ(x) for x ≥ 0. It uses only operations that round the
 * same way in scalar and vector code.
 *
 * <p>It uses formula 7.1.26 of Abramowitz and Stegun for erf, whose error is at most 1.5e-7: a
 * polynomial in t = 1 / (1 + p x / √2), here halved, times exp(-x² / 2).
 */
final class NormalTail {

  /** The p of the formula, divided by the square root of 2. */
  static final float SLOPE = 0.23164189f;

  static final float C1 = 0.127414796f;
  static final float C2 = -0.142248368f;
  static final float C3 = 0.7107068705f;
  static final float C4 = -0.7265760135f;
  static final float C5 = 0.5307027145f;

  private NormalTail() {}

  static float of(float x) {
    float t = 1f / Fma.fma(x, SLOPE, 1f);
    float p = Fma.fma(t, C5, C4);
    p = Fma.fma(p, t, C3);
    p = Fma.fma(p, t, C2);
    p = Fma.fma(p, t, C1);
    return p * t * Exponential.exp(x * x * -0.5f);
  }
}
