package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class ReuseModelTest {
  private static final int KINDS = 2;
  private static final int CAPACITY = 1000;

  private final IdlePages idle = new IdlePages(KINDS);
  private final ReuseModel model = new ReuseModel(KINDS, new double[] {1, 1}, CAPACITY);

  private double density(int kind, long age) {
    return model.density(kind, AgeScale.bucket(age));
  }

  /** Pages begin to wait at each tick to {@code last}, and are used after {@code gap} ticks. */
  private void usedAfter(int kind, int last, int gap, double pages) {
    for (int tick = 1; tick <= last; tick++) {
      idle.begin(tick);
      double weight = pages * model.weight(tick);
      if (tick + gap <= last) {
        model.reused(kind, gap, weight);
      } else {
        idle.addWaiting(tick, kind, weight);
      }
    }
  }

  private void neverUsed(int kind, int last, double pages) {
    for (int tick = 1; tick <= last; tick++) {
      idle.begin(tick);
      idle.addWaiting(tick, kind, pages * model.weight(tick));
    }
  }

  @Test
  void theOrderWithoutTrafficIsThatOfLru() {
    model.learn(idle, KINDS, 1);

    for (int bucket = 1; bucket < AgeScale.buckets(); bucket++) {
      assertThat(model.density(0, bucket)).isLessThan(model.density(0, bucket - 1));
    }
  }

  @Test
  void aPageIsWorthMostShortlyBeforeItsUseAndLeastOnceThatIsOverdue() {
    usedAfter(0, 4000, 100, 20);
    model.learn(idle, KINDS, 4000);

    assertThat(density(0, 80)).isGreaterThan(2 * density(0, 5));
    assertThat(density(0, 5)).isGreaterThan(2 * density(0, 400));
  }

  @Test
  void theDensityOfPagesThatAreAllUsedAtOneAgeIsAboutOneHitForThatTime() {
    usedAfter(0, 20_000, 100, 1000);
    model.learn(idle, KINDS, 20_000);

    // the uses are spread over the neighbouring ages, the densities drawn together
    assertThat(density(0, 1)).isBetween(1.0 / 125, 1.0 / 40);
  }

  @Test
  void usesAtAConstantRateMakeTheDensityThatRateAtEveryAge() {
    int rate = 50;
    for (int age = 1; age < 400; age++) {
      double share = Math.pow(1 - 1.0 / rate, age - 1) / rate;
      model.reused(0, age, 1e6 * share);
    }
    model.learn(idle, KINDS, 1);

    for (int age : new int[] {10, 30, 100}) {
      assertThat(density(0, age))
          .as("age " + age)
          .isCloseTo(1.0 / rate, Percentage.withPercentage(25));
    }
  }

  @Test
  void pagesOfAKindThatIsUsedAgainAreWorthMoreThanOthersAtEachAgeUntilThen() {
    usedAfter(0, 3000, 60, 10);
    neverUsed(1, 3000, 10);
    model.learn(idle, KINDS, 3000);

    for (int age : new int[] {1, 10, 30, 50}) {
      assertThat(density(0, age)).isGreaterThan(2 * density(1, age));
    }
  }

  @Test
  void recentReusesOutweighOldOnes() {
    usedAfter(0, 2000, 10, 10);
    for (int tick = 40_001; tick <= 42_000; tick++) {
      idle.begin(tick);
      model.reused(0, 200, 10 * model.weight(tick));
    }
    model.learn(idle, KINDS, 42_200);

    assertThat(density(0, 160)).isGreaterThan(density(0, 3));
  }

  @Test
  void agesAreCountedRightAfterAnyTime() {
    long far = 1L << 40;
    idle.begin(far);
    model.learn(idle, KINDS, far);
    idle.addWaiting(far, 0, 1000 * model.weight(far));
    model.learn(idle, KINDS, far + 50);

    for (int bucket = 0; bucket < AgeScale.buckets(); bucket++) {
      assertThat(model.density(0, bucket)).isPositive().isFinite();
    }
  }

  @Test
  void learningInPartsEqualsLearningAtOnce() {
    usedAfter(0, 4000, 100, 20);
    neverUsed(1, 4000, 3);
    double[][] byParts = new double[KINDS][AgeScale.buckets()];
    // the first round learns what kinds have in common, the second uses it
    for (int part = 0; part < 2 * (KINDS + 1); part++) {
      model.learnPart(idle, KINDS, 4000);
    }
    for (int kind = 0; kind < KINDS; kind++) {
      for (int bucket = 0; bucket < byParts[kind].length; bucket++) {
        byParts[kind][bucket] = model.density(kind, bucket);
      }
    }
    model.learn(idle, KINDS, 4000);

    for (int kind = 0; kind < KINDS; kind++) {
      for (int bucket = 0; bucket < byParts[kind].length; bucket++) {
        assertThat(byParts[kind][bucket]).isPositive().isEqualTo(model.density(kind, bucket));
      }
    }
  }
}
