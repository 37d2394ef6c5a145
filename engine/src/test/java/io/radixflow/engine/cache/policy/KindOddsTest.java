package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class KindOddsTest {
  private static final double[] GIVEN = {1, 4, 16};
  private static final double WEIGHT = 200;

  private final KindOdds odds = new KindOdds(GIVEN);

  /** Pages of each kind are used again as often as if its odds were those given to a power. */
  private void see(double power, double pages) {
    odds.begin();
    for (int kind = 0; kind < GIVEN.length; kind++) {
      odds.add(kind, pages * Math.pow(GIVEN[kind], power), pages);
    }
    odds.fit(WEIGHT);
  }

  @Test
  void theOddsAreTheInitialOnesUntilReusesAreSeen() {
    assertThat(odds.of(2)).isEqualTo(16);
    odds.begin();
    odds.fit(WEIGHT);
    assertThat(odds.of(2)).isCloseTo(16, Offset.offset(1e-9));
  }

  @Test
  void manyReusesOfKindsThatAreAlikeMakeThemAlike() {
    see(0, 1e8);

    assertThat(odds.of(1)).isCloseTo(1, Offset.offset(0.01));
    assertThat(odds.of(2)).isCloseTo(1, Offset.offset(0.01));
  }

  @Test
  void fewReusesMoveThemALittle() {
    see(0, 100);

    assertThat(odds.of(2)).isBetween(14.0, 15.99);
  }

  @Test
  void thePowerIsNeverMoreThanGivenNorLessThanNone() {
    see(3, 1e8);
    assertThat(odds.of(2)).isCloseTo(16, Offset.offset(1e-9));
    see(-3, 1e8);
    assertThat(odds.of(2)).isEqualTo(1);
  }

  @Test
  void anUnknownKindGetsTheRatesOfTheOthers() {
    odds.begin();
    odds.add(0, 1e8, 1e8);
    odds.add(1, 2e8, 1e8);
    odds.add(2, 0, 1e8);
    odds.fit(WEIGHT);

    assertThat(odds.of(2)).isCloseTo(4, Offset.offset(0.05));
  }

  @Test
  void kindsWithoutOddsAreAllEqual() {
    odds.begin();
    odds.add(3, 1e8, 1);
    odds.fit(WEIGHT);

    assertThat(odds.of(3)).isEqualTo(1);
    assertThat(odds.of(1)).isCloseTo(4, Offset.offset(1e-9));
  }
}
