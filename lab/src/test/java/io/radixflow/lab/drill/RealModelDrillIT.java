package io.radixflow.lab.drill;

import io.radixflow.models.TestModels;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A short drill with a real model. */
@Tag("slow")
@Tag("model")
class RealModelDrillIT {

  private static final Path DIRECTORY = Path.of("target/cluster/drill-model");

  @BeforeEach
  void forgetTheLastDrill() throws IOException {
    FileUtils.deleteDirectory(DIRECTORY.toFile());
  }

  @Test
  void repliesOfARealModelSurviveAKillAndASavepoint() throws Exception {
    String model = TestModels.smolLm2().toAbsolutePath().toString();
    List<Fault> faults = List.of(Fault.TASKMANAGER_KILLED, Fault.SAVEPOINT);

    DrillOptions options =
        DrillOptions.real(model, DrillIT.SEED, Optional.of(DIRECTORY)).with(true, List.of());
    DrillIT.assertHolds(DrillIT.run(options, faults), faults.size());
  }
}
