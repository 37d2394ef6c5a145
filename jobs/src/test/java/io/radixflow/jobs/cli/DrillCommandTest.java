package io.radixflow.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.drill.DrillResult;
import io.radixflow.jobs.drill.Fault;
import io.radixflow.jobs.drill.RecoveryTimes.Times;
import io.radixflow.jobs.drill.Verdict;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DrillCommandTest {

  private static final Times NONE = new Times(0, 0, 0);

  @Test
  void theTableCountsFaultsTurnsAndTimes() {
    String table = DrillTable.of(result(0, List.of()));

    assertThat(table)
        .contains("    3  kill -9 of a TaskManager\n")
        .contains("   38  accepted\n")
        .contains("    2  rejected\n")
        .contains("    0  lost\n")
        .contains("median 2.5 s, worst 4.0 s, 7 turns: of its own sessions\n")
        .doesNotContain("silence")
        .endsWith("nothing was lost\n");
  }

  @Test
  void whatIsWrongIsNamed() {
    DrillResult result = result(1, List.of("s/1: no committed reply"));

    assertThat(result.holds()).isFalse();
    assertThat(DrillTable.of(result))
        .contains("    1  lost\n")
        .contains("WRONG s/1: no committed reply\n")
        .endsWith("NOT as it must be\n");
  }

  @Test
  void aDrillOfNoTimeIsRefused() {
    Cli.Result result = new Cli().run("drill", "--minutes", "0");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("--minutes is 0, must be 1 to");
  }

  private static DrillResult result(int lost, List<String> findings) {
    return new DrillResult(
        Map.of(Fault.TASKMANAGER_KILLED, 3),
        new Verdict(40, 38 - lost, 2, lost, 0, 0, 0, 0, findings),
        0,
        0,
        0,
        List.of(),
        new Times(7, 2_500, 4_000),
        NONE,
        NONE,
        60);
  }
}
