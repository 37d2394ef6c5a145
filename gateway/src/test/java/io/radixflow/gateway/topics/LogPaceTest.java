package io.radixflow.gateway.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LogPaceTest {

  @Test
  void aBurstIsDueOnce() {
    LogPace pace = new LogPace();
    assertThat(LongStream.generate(pace::due).limit(1_000)).startsWith(1L).contains(0L);
    assertThat(LongStream.generate(pace::due).limit(1_000)).containsOnly(0L);
  }
}
