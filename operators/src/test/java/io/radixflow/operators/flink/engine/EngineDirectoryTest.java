package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineDirectoryTest {
  private static final Set<String> RESTORED = Set.of("e");

  @TempDir Path root;

  @Test
  void theDirectoryIsBesideTheOneThatFlinkEmptiesAtStart() throws Exception {
    Files.createDirectories(root.resolve("localState"));
    Path temporary = Files.createDirectories(root.resolve("tmp"));
    EngineDirectory directory = EngineDirectory.of(temporary.toFile(), "engine", RESTORED);
    assertThat(directory)
        .isEqualTo(
            new EngineDirectory(
                root.resolve("radixflow/engine.running"),
                root.resolve("radixflow/tiers"),
                RESTORED));
  }

  @Test
  void thereIsNoDirectoryWithoutAWorkingDirectory() {
    EngineDirectory nowhere = new EngineDirectory(null, null, RESTORED);
    assertThat(EngineDirectory.of(null, "engine", RESTORED)).isEqualTo(nowhere);
    assertThat(EngineDirectory.of(root.resolve("tmp").toFile(), "engine", RESTORED))
        .isEqualTo(nowhere);
  }

  @Test
  void crashJournalsOfJobsThatNeverCameBackAreDeleted() throws Exception {
    Path recent = Files.createFile(root.resolve("recent.running"));
    Path old = Files.createFile(root.resolve("old.running"));
    Path foreign = Files.createFile(root.resolve("foreign"));
    FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofDays(8)));
    Files.setLastModifiedTime(old, longAgo);
    Files.setLastModifiedTime(foreign, longAgo);
    assertThat(EngineDirectory.crashJournal(root, "engine"))
        .isEqualTo(root.resolve("engine.running"));
    assertThat(old).doesNotExist();
    assertThat(recent).exists();
    assertThat(foreign).exists();
  }
}
