package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.tier.GenerationRef;
import io.radixflow.operators.tier.LocalTiers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GenerationStateTest {
  @TempDir Path root;

  private final List<EngineHome> homes = new ArrayList<>();
  private LocalTiers tiers;

  private ServingHarness harness(boolean onDisk, int parallelism, int subtask) throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    TestOpener opener =
        TestOpener.at(
            "generations" + homes.size(),
            home -> {
              homes.add(home);
              try {
                tiers = onDisk ? LocalTiers.open(root, "kind", home.restored()) : null;
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              return new ServingEngine(engine, engine.model(), EngineTiers.of(tiers));
            });
    return new ServingHarness(opener, ServingOptions.DEFAULT, parallelism, subtask);
  }

  @Test
  void everySubtaskLearnsOfAllGenerationsAfterARestoreAndARescale() throws Exception {
    OperatorSubtaskState state;
    String engine;
    try (ServingHarness h = harness(true, 1, 0)) {
      h.open();
      h.snapshot();
      state = h.snapshot();
      engine = tiers.home().engine();
    }
    tiers.close();
    for (int subtask = -1; subtask < 2; subtask++) {
      int parallelism = subtask < 0 ? 1 : 2;
      try (ServingHarness h = harness(true, parallelism, Math.max(0, subtask)).restore(state, 1)) {
        assertThat(homes.get(homes.size() - 1).restored())
            .singleElement()
            .satisfies(
                ref -> {
                  assertThat(ref.engine()).isEqualTo(engine).isEqualTo(tiers.home().engine());
                  assertThat(ref.generation()).isEqualTo(2);
                });
      }
      tiers.close();
    }
  }

  @Test
  void aCheckpointWithoutAPageDirectoryNamesNone() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(false, 1, 0)) {
      h.open();
      state = h.snapshot();
    }
    try (ServingHarness h = harness(true, 1, 0).restore(state, 1)) {
      assertThat(homes.get(1).restored()).isEmpty();
    }
  }

  @Test
  void aDirectoryThatCannotBeCopiedDoesNotFailTheCheckpoint() throws Exception {
    try (ServingHarness h = harness(true, 1, 0)) {
      h.open();
      h.send(Events.message("s", "t1"));
      tiers.generations().close();
      OperatorSubtaskState state = h.snapshot();
      assertThat(state.getRawOperatorState()).isEmpty();
      assertThat(state.getManagedKeyedState()).isNotEmpty();
    }
  }

  @Test
  void generationsOfFailedCheckpointsGo() throws Exception {
    try (ServingHarness h = harness(true, 1, 0)) {
      h.open();
      for (int checkpoint = 1; checkpoint <= 4; checkpoint++) {
        h.snapshot();
        if (checkpoint == 2) {
          h.getOperator().notifyCheckpointAborted(checkpoint);
        } else {
          h.getOperator().notifyCheckpointComplete(checkpoint);
        }
      }
      Path directory = tiers.home().directory();
      assertThat(directory.resolve("gen-2")).doesNotExist();
      assertThat(directory.resolve("gen-4")).exists();
      GenerationRef again = tiers.generations().make(4);
      assertThat(again.engine()).isEqualTo(tiers.home().engine());
    }
  }
}
