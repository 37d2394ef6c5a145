package io.radixflow.kernels.cpu.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.radixflow.kernels.cpu.SyntheticTensor;
import io.radixflow.models.Float16;
import org.junit.jupiter.api.Test;

class ArithmeticTest {

  @Test
  void emulatedMultiplyAddIsTheHardwares() {
    SyntheticTensor.Mix random = new SyntheticTensor.Mix(1);
    for (int i = 0; i < 2_000_000; i++) {
      float a = Float.intBitsToFloat(random.next());
      float b = Float.intBitsToFloat(random.next());
      float c = Float.intBitsToFloat(random.next());
      // Also sums that nearly cancel and products of moderate size.
      float near = -(a * b) * (1 + (random.unit() - 0.5f) * 0x1p-20f);
      check(a, b, c);
      check(a, b, near);
      check(random.unit(), random.unit(), random.unit() * 0x1p-24f);
    }
  }

  private static void check(float a, float b, float c) {
    float expected = Math.fma(a, b, c);
    float actual = Fma.emulated(a, b, c);
    if (Float.floatToIntBits(expected) != Float.floatToIntBits(actual)) {
      assertThat(actual).as("%s * %s + %s", a, b, c).isEqualTo(expected);
    }
  }

  @Test
  void exponentialIsWithinTwoUnitsInTheLastPlace() {
    for (float x = -87f; x <= 88f; x += 0.00037f) {
      double expected = StrictMath.exp(x);
      assertThat(Math.abs(Exponential.exp(x) - expected) / expected).isLessThan(2 * 0x1p-23);
    }
  }

  @Test
  void exponentialStaysFiniteAndKeepsNaN() {
    assertThat(Exponential.exp(Float.NEGATIVE_INFINITY)).isBetween(0f, 2e-38f);
    assertThat(Exponential.exp(Float.POSITIVE_INFINITY)).isBetween(1e38f, 2e38f);
    assertThat(Exponential.exp(Float.NaN)).isNaN();
  }

  @Test
  void theNormalTailIsWithinTheErrorOfItsFormulaAndItsRounding() {
    for (float x = 0; x <= 14f; x += 0.0037f) {
      assertThat((double) NormalTail.of(x)).isCloseTo(normalTail(x), within(2.5e-7));
    }
    assertThat(NormalTail.of(0)).isEqualTo(0.5f);
    assertThat(NormalTail.of(Float.MAX_VALUE)).isBetween(0f, 1e-38f);
    assertThat(NormalTail.of(Float.NaN)).isNaN();
  }

  /** The integral of the density from x on, by Simpson's rule. */
  private static double normalTail(double x) {
    int steps = 4000;
    double width = 10.0 / steps;
    double sum = 0;
    for (int i = 0; i <= steps; i++) {
      double at = x + i * width;
      int weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * StrictMath.exp(-at * at / 2);
    }
    return sum * width / 3 / Math.sqrt(2 * Math.PI);
  }

  @Test
  void halvesSurviveARoundTripAndFloatsRoundToTheNearestHalf() {
    for (int i = 0; i < 1 << 16; i++) {
      float value = Float16.toFloat((short) i);
      if (Float.isFinite(value)) {
        assertThat(Float16.fromFloat(value)).isEqualTo((short) i);
      }
    }
    for (int i = 0; i < 0x7bff; i++) {
      float low = Float16.toFloat((short) i);
      float high = Float16.toFloat((short) (i + 1));
      float middle = (low + high) / 2;
      short even = (short) (i % 2 == 0 ? i : i + 1);
      assertThat(Float16.fromFloat(middle)).isEqualTo(even);
      assertThat(Float16.fromFloat(Math.nextUp(middle))).isEqualTo((short) (i + 1));
      assertThat(Float16.fromFloat(-Math.nextDown(middle))).isEqualTo((short) (i | 0x8000));
    }
  }

  @Test
  void floatsBeyondTheRangeOfHalvesBecomeTheLargest() {
    assertThat(Float16.toFloat(Float16.fromFloat(1e9f))).isEqualTo(65504f);
    assertThat(Float16.toFloat(Float16.fromFloat(Float.NEGATIVE_INFINITY))).isEqualTo(-65504f);
    assertThat(Float16.toFloat(Float16.fromFloat(Float.NaN))).isNaN();
  }
}
