package io.radixflow.lab.bench.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.Figures;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobCostTest {
  @Test
  void theTimeAboveTheIdleJobIsDividedByTurnsAndByFurtherDeltas() {
    Figures figures = new Figures();
    JobLoad.Outcome turns = outcome(10, 10, 2, 2_000_000_000L);
    JobLoad.Outcome deltas = outcome(5, 25, 4, 3_500_000_000L);

    new JobCost(used(1, 500_000_000L), turns, deltas, samples()).addTo(figures);

    JsonNode operator = figures.json().at("/cpu_seconds/operator");
    assertThat(operator.at("/idle").asDouble()).isCloseTo(0.5, within(1e-9));
    assertThat(operator.at("/turn").asDouble()).isCloseTo((2 - 2 * 0.5) / 10, within(1e-9));
    assertThat(operator.at("/delta").asDouble())
        .isCloseTo((3.5 - 4 * 0.5 - 5 * 0.1) / (25 - 5), within(1e-9));
  }

  private static JobLoad.Outcome outcome(long turns, long deltas, double seconds, long nanos) {
    return new JobLoad.Outcome(turns, deltas, used(seconds, nanos), samples());
  }

  private static ThreadCpu.Used used(double seconds, long nanos) {
    return new ThreadCpu.Used(seconds, Map.of(ThreadGroupName.OPERATOR, nanos));
  }

  private static Samples samples() {
    Samples samples = new Samples();
    samples.add(1);
    return samples;
  }
}
