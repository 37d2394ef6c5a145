package io.radixflow.kernels.cuda.step;

import java.util.random.RandomGenerator;

/** bf16 as its 16 bits, for tests. */
public final class Bf16 {

  private Bf16() {}

  /** Rounded to nearest even. */
  public static short of(double value) {
    float rounded = (float) value;
    int bits = Float.floatToRawIntBits(rounded);
    return (short) ((bits + 0x7fff + (bits >>> 16 & 1)) >>> 16);
  }

  /** The nearest bf16. */
  static float round(float value) {
    return toFloat(of(value));
  }

  public static float toFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  public static float[] toFloats(short[] bits) {
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] = toFloat(bits[i]);
    }
    return values;
  }

  /** Normally distributed values. */
  public static short[] random(int count, double deviation, RandomGenerator random) {
    short[] values = new short[count];
    for (int i = 0; i < count; i++) {
      values[i] = of(random.nextGaussian() * deviation);
    }
    return values;
  }
}
