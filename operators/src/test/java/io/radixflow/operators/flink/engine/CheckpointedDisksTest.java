package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.disk.DiskDirectory;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class CheckpointedDisksTest {
  @TempDir Path root;

  private final List<EngineDirectory> directories = new ArrayList<>();
  private DiskDirectory disk;

  private static EngineTiers tiers(DiskDirectory disk) {
    return new EngineTiers() {
      @Override
      public String diskId() {
        return disk == null ? null : disk.engine();
      }

      @Override
      public String attachedDiskId() {
        return diskId();
      }
    };
  }

  private ServingHarness harness(boolean onDisk, int parallelism, int subtask) throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    TestEngineFactory factory =
        TestEngineFactory.at(
            "disks" + directories.size(),
            directory -> {
              directories.add(directory);
              try {
                disk =
                    onDisk
                        ? DiskDirectory.claim(
                            root, "kind", directory.restored(), Duration.ofDays(7))
                        : null;
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              return new ServingEngine(engine, engine.model(), tiers(disk));
            });
    return new ServingHarness(factory, ServingOptions.DEFAULT, parallelism, subtask);
  }

  @Test
  void everySubtaskLearnsOfAllDisksAfterARestoreAndARescale() throws Exception {
    OperatorSubtaskState state;
    String engine;
    try (ServingHarness h = harness(true, 1, 0)) {
      h.open();
      h.snapshot();
      state = h.snapshot();
      engine = disk.engine();
    }
    disk.close();
    for (int subtask = -1; subtask < 2; subtask++) {
      int parallelism = subtask < 0 ? 1 : 2;
      try (ServingHarness h = harness(true, parallelism, Math.max(0, subtask)).restore(state, 1)) {
        assertThat(directories.get(directories.size() - 1).restored()).containsExactly(engine);
        assertThat(disk.engine()).isEqualTo(engine);
      }
      disk.close();
    }
  }

  @Test
  void aCheckpointOfAnEngineWithoutADiskNamesNone() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(false, 1, 0)) {
      h.open();
      state = h.snapshot();
    }
    try (ServingHarness h = harness(true, 1, 0).restore(state, 1)) {
      assertThat(directories.get(1).restored()).isEmpty();
    }
    disk.close();
  }
}
