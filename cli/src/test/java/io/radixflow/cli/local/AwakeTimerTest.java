package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class AwakeTimerTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private long nanos = Long.MAX_VALUE - 5;
  private final AwakeTimer timer = new AwakeTimer(() -> nanos);

  @Test
  void aTimeOfManyLooksIsOverWhenItHasPassed() {
    for (int look = 0; look < 60; look++) {
      assertThat(lookAfter(Duration.ofMillis(500))).isFalse();
    }
    assertThat(lookAfter(Duration.ofMillis(500))).isTrue();
  }

  @Test
  void aPauseOfHoursIsOneStep() {
    assertThat(lookAfter(Duration.ofHours(20))).isFalse();
    assertThat(lookAfter(Duration.ofDays(90))).isFalse();
    assertThat(lookAfter(Duration.ofMillis(500))).isFalse();
  }

  @Test
  void whatHappenedBeforeARestartDoesNotCount() {
    for (int look = 0; look < 100; look++) {
      lookAfter(Duration.ofSeconds(1));
    }
    timer.restart();
    assertThat(lookAfter(Duration.ofSeconds(1))).isFalse();
  }

  private boolean lookAfter(Duration time) {
    nanos += time.toNanos();
    return timer.exceeds(PATIENCE);
  }
}
