package io.radixflow.jobs.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineNameTest {
  @TempDir Path dir;

  @Test
  void enginesOfAHostHaveNamesOfTheirOwnAndLeaveThemToTheirSuccessors() {
    EngineName first = EngineName.acquire(dir, "host");
    EngineName second = EngineName.acquire(dir, "host");
    assertThat(first).hasToString("host-0");
    assertThat(second).hasToString("host-1");
    first.close();
    try (EngineName third = EngineName.acquire(dir, "host")) {
      assertThat(third).hasToString("host-0");
    }
    second.close();
  }

  @Test
  void anEngineThatCannotLockAFileHasAUniqueName() {
    Path nowhere = dir.resolve("absent");
    assertThat(EngineName.acquire(nowhere, "host").toString())
        .startsWith("host-")
        .isNotEqualTo(EngineName.acquire(nowhere, "host").toString());
  }
}
