package io.radixflow.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoggedProgressTest {
  private static final long MB = 1 << 20;

  private final List<String> lines = new ArrayList<>();
  private long millis;
  private final LoggedProgress progress =
      new LoggedProgress(lines::add, ModelProgress.NONE, () -> millis * 1_000_000);

  @Test
  void aLoadOfOverTwoSecondsIsReportedWithPercentBytesAndRate() {
    progress.begin("weights of m", 1000 * MB, 0);
    millis = 1900;
    progress.advance(100 * MB);
    millis = 2500;
    progress.advance(150 * MB);
    millis = 4000;
    progress.advance(750 * MB);
    progress.end();

    assertThat(lines)
        .containsExactly(
            "Loading weights of m: 25 % of 1000 MB, 100 MB/s",
            "Loaded weights of m in 4000 ms: 100 % of 1000 MB, 250 MB/s");
  }

  @Test
  void aLoadThatFailedIsNotReportedAsLoaded() {
    progress.begin("weights of m", 1000 * MB, 0);
    progress.advance(MB);
    progress.end();

    assertThat(lines).isEmpty();
  }
}
