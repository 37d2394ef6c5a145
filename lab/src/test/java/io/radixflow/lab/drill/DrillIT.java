package io.radixflow.lab.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.cluster.ClusterJars;
import io.radixflow.lab.drill.http.PythonClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Drills on the packaged jars. */
@Tag("slow")
class DrillIT {

  private static final Logger LOG = LoggerFactory.getLogger(DrillIT.class);
  private static final Path DIRECTORY = Path.of("target/cluster/drill");
  static final long SEED = 20261121;

  @BeforeEach
  void forgetTheLastDrill() throws IOException {
    FileUtils.deleteDirectory(DIRECTORY.toFile());
  }

  @Test
  void nothingIsLostDoubledOrChangedWhateverHappensToTheCluster() throws Exception {
    if ("true".equals(System.getenv("RADIXFLOW_REQUIRE_CLIENTS"))) {
      assertThat(PythonClient.isAvailable()).as("python3 finds openai").isTrue();
    }
    List<Fault> faults = new ArrayList<>(List.of(Fault.values()));
    faults.addAll(Collections.nCopies(6, Fault.TASKMANAGER_KILLED));
    faults.add(Fault.GATEWAY_KILLED);

    DrillResult result =
        run(DrillOptions.simulated(SEED, Optional.of(DIRECTORY)).with(true, List.of()), faults);

    assertHolds(result, faults.size());
    assertThat(result.deaths()).isBetween(2, result.mostDeaths());
    assertThat(result.tokens())
        .hasValueSatisfying(
            tokens -> {
              assertThat(tokens.host()).isPositive();
              assertThat(tokens.disk()).isPositive();
              assertThat(tokens.remote()).isPositive();
              assertThat(tokens.afterKills()).isPositive();
            });
  }

  static DrillResult run(DrillOptions options, List<Fault> faults) throws Exception {
    ClusterJars jars =
        ClusterJars.in(
            Path.of("target/dist/lib"),
            Path.of("../engine/target/radixflow-kernels-lib.jar"),
            Path.of("../jobs/target/radixflow-job.jar"));
    return new Drill(jars, options, LOG::info).run(FaultPlan.of(faults, options.seed()));
  }

  static void assertHolds(DrillResult result, int faults) {
    LOG.info("{}", result);
    assertThat(result.http().findings()).isEmpty();
    assertThat(result.http().resumed()).isPositive();
    assertThat(result.verdict().findings()).isEmpty();
    assertThat(result).as("%s", result).matches(DrillResult::holds);
    assertThat(result.faults().values().stream().mapToInt(Integer::intValue).sum())
        .isEqualTo(faults);
    assertThat(result.verdict().rejected()).isZero();
    assertThat(result.verdict().contents()).isPositive();
    assertThat(result.verdict().calls()).isPositive();
    assertThat(result.verdict().replied()).isGreaterThanOrEqualTo(faults * Drill.REPLIES_BETWEEN);
  }
}
