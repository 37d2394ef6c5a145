package io.radixflow.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class Float8Test {

  @Test
  void everyCodeHasTheValueOfItsBits() {
    for (int code = 0; code < 256; code++) {
      int exponent = code >> 3 & 15;
      int mantissa = code & 7;
      double magnitude =
          exponent == 0
              ? mantissa / 8.0 * Math.pow(2, -6)
              : (1 + mantissa / 8.0) * Math.pow(2, exponent - 7);
      double expected = code < 128 ? magnitude : -magnitude;
      boolean number = (code & 127) != 127;
      assertThat(Float8.isNaN((byte) code)).isEqualTo(!number);
      if (number) {
        assertThat((double) Float8.toFloat((byte) code)).isEqualTo(expected);
      } else {
        assertThat(Float8.toFloat((byte) code)).isNaN();
      }
    }
    assertThat(Float8.toFloat((byte) 0x7e)).isEqualTo(448f);
  }

  /** Returns the nearest code; of two that are equally near, the one whose last bit is 0. */
  private static byte nearest(float value) {
    int best = 0;
    for (int code = 1; code < 0x7f; code++) {
      double distance = Math.abs(Math.abs((double) value) - Float8.toFloat((byte) code));
      double least = Math.abs(Math.abs((double) value) - Float8.toFloat((byte) best));
      if (distance < least || distance == least && code % 2 == 0) {
        best = code;
      }
    }
    return (byte) (Float.floatToRawIntBits(value) < 0 ? best | 0x80 : best);
  }

  @Test
  void floatsAreRoundedToTheNearestCodeAndTiesToEvenOnes() {
    for (int code = 0; code < 0x7e; code++) {
      float low = Float8.toFloat((byte) code);
      float tie = (low + Float8.toFloat((byte) (code + 1))) / 2;
      for (float value : new float[] {low, Math.nextDown(tie), tie, Math.nextUp(tie)}) {
        assertThat(Float8.fromFloat(value)).as("%s", value).isEqualTo(nearest(value));
        assertThat(Float8.fromFloat(-value)).as("%s", -value).isEqualTo(nearest(-value));
      }
    }
    SplittableRandom random = new SplittableRandom(8);
    for (int i = 0; i < 20_000; i++) {
      float value = (float) (random.nextGaussian() * Math.pow(2, random.nextInt(-14, 9)));
      assertThat(Float8.fromFloat(value)).as("%s", value).isEqualTo(nearest(value));
    }
  }

  @Test
  void largeFloatsBecomeTheLargestCodeAndWhatIsNoNumberStaysNone() {
    for (float value : new float[] {449, 464, 480, 1e30f, Float.POSITIVE_INFINITY}) {
      assertThat(Float8.fromFloat(value)).isEqualTo((byte) 0x7e);
      assertThat(Float8.fromFloat(-value)).isEqualTo((byte) 0xfe);
    }
    assertThat(Float8.isNaN(Float8.fromFloat(Float.NaN))).isTrue();
    assertThat(Float8.fromFloat(-0f)).isEqualTo((byte) 0x80);
    assertThat(Float8.fromFloat(Float.MIN_VALUE)).isZero();
  }

  @Test
  void aScaleIsTheSmallestPowerOfTwoThatLeavesNothingAboveTheLargestCode() {
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < 20_000; i++) {
      float most = (float) ((1 + random.nextDouble()) * Math.pow(2, random.nextInt(-110, 127)));
      most = i % 3 == 0 ? 1.75f * (float) Math.pow(2, Math.getExponent(most)) : most;
      int code = Float8.scaleCode(Float.floatToRawIntBits(most));
      double scale = Float8.scale((byte) code);
      assertThat(scale).isEqualTo(Math.pow(2, code - 127));
      assertThat((double) Float8.inverseScale(code)).isEqualTo(1 / scale);
      assertThat((double) most).isLessThanOrEqualTo(448 * scale).isGreaterThan(224 * scale);
    }
    assertThat(Float8.scaleCode(0)).isEqualTo(1);
    assertThat(Float8.scaleCode(Float.floatToRawIntBits(Float.MIN_VALUE))).isEqualTo(1);
    assertThat(Float8.scaleCode(Float.floatToRawIntBits(Float.NaN))).isEqualTo(255);
    assertThat(Float8.scaleCode(Float.floatToRawIntBits(Float.POSITIVE_INFINITY))).isEqualTo(255);
    assertThat(Float8.scale((byte) 255)).isInfinite();
  }
}
