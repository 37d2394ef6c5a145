package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineHomeTest {
  private static final Set<String> RESTORED = Set.of("e");

  @TempDir Path root;

  @Test
  void isBesideWhatFlinkEmptiesWhenItStarts() throws Exception {
    Files.createDirectories(root.resolve("localState"));
    Path temporary = Files.createDirectories(root.resolve("tmp"));
    EngineHome home = EngineHome.of(temporary.toFile(), "engine", RESTORED);
    assertThat(home)
        .isEqualTo(
            new EngineHome(
                root.resolve("radixflow/engine.running"),
                root.resolve("radixflow/tiers"),
                RESTORED));
  }

  @Test
  void hasNoPlaceWithoutAWorkingDirectory() {
    EngineHome nowhere = new EngineHome(null, null, RESTORED);
    assertThat(EngineHome.of(null, "engine", RESTORED)).isEqualTo(nowhere);
    assertThat(EngineHome.of(root.resolve("tmp").toFile(), "engine", RESTORED)).isEqualTo(nowhere);
  }
}
