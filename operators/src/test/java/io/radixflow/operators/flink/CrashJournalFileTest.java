package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashJournalFileTest {
  @TempDir Path root;

  @Test
  void thoseOfJobsThatNeverCameBackAreDeleted() throws Exception {
    Path recent = Files.createFile(root.resolve("recent.running"));
    Path old = Files.createFile(root.resolve("old.running"));
    Path foreign = Files.createFile(root.resolve("foreign"));
    FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofDays(8)));
    Files.setLastModifiedTime(old, longAgo);
    Files.setLastModifiedTime(foreign, longAgo);
    assertThat(CrashJournalFile.of(root, "engine")).isEqualTo(root.resolve("engine.running"));
    assertThat(old).doesNotExist();
    assertThat(recent).exists();
    assertThat(foreign).exists();
  }
}
