package io.radixflow.cli.command.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SamplesTest {

  @Test
  void quantilesAreInterpolatedWhateverTheOrderOfTheSamples() {
    List<Integer> values = new ArrayList<>();
    for (int i = 1; i <= 101; i++) {
      values.add(i);
    }
    Collections.shuffle(values, new Random(1));
    Samples samples = new Samples();
    values.forEach(samples::add);

    assertThat(samples.count()).isEqualTo(101);
    assertThat(samples.min()).isEqualTo(1);
    assertThat(samples.median()).isEqualTo(51);
    assertThat(samples.quantile(0.995)).isCloseTo(100.5, within(1e-9));
    assertThat(samples.max()).isEqualTo(101);
  }

  @Test
  void aSampleThatComesAfterAQuantileWasReadCounts() {
    Samples samples = new Samples();
    samples.add(3);
    assertThat(samples.median()).isEqualTo(3);
    samples.add(1);
    assertThat(samples.median()).isEqualTo(2);
  }
}
