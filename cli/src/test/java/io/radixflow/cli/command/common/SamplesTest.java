package io.radixflow.cli.command.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SamplesTest {
  private static Samples counted(int count) {
    Samples samples = new Samples();
    for (int i = 1; i <= count; i++) {
      samples.add(i);
    }
    return samples;
  }

  @Test
  void boundsOfTheMedianAreThoseOfTheBinomialDistribution() {
    // tables of the sign test, two-sided, 5 %: 0 of 6, 1 of 9, 5 of 20, 17 of 50
    assertThat(counted(6).medianBounds()).containsExactly(1, 6);
    assertThat(counted(9).medianBounds()).containsExactly(2, 8);
    assertThat(counted(20).medianBounds()).containsExactly(6, 15);
    assertThat(counted(50).medianBounds()).containsExactly(18, 33);
  }

  @Test
  void theBoundsOfTooFewSamplesAreTheExtremes() {
    assertThat(counted(1).medianBounds()).containsExactly(1, 1);
    assertThat(counted(5).medianBounds()).containsExactly(1, 5);
  }

  @Test
  void theBoundsHoldTheMedianAsOftenAsTheySay() {
    Random random = new Random(1);
    int held = 0;
    for (int run = 0; run < 1000; run++) {
      Samples samples = new Samples();
      for (int i = 0; i < 30; i++) {
        samples.add(Math.exp(random.nextGaussian()));
      }
      double[] bounds = samples.medianBounds();
      held += bounds[0] <= 1 && 1 <= bounds[1] ? 1 : 0;
    }
    assertThat(held).isGreaterThanOrEqualTo(940);
  }
}
