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

  private Path workingDirectory() throws Exception {
    Files.createDirectories(root.resolve("localState"));
    return Files.createDirectories(root.resolve("tmp"));
  }

  @Test
  void isBesideWhatFlinkEmptiesWhenItStarts() throws Exception {
    assertThat(CrashJournalFile.of(workingDirectory().toFile(), "engine"))
        .isEqualTo(root.resolve("radixflow/engine.running"));
  }

  @Test
  void isNowhereWithoutAWorkingDirectory() throws Exception {
    assertThat(CrashJournalFile.of(null, "engine")).isNull();
    assertThat(CrashJournalFile.of(root.resolve("tmp").toFile(), "engine")).isNull();
  }

  @Test
  void thoseOfJobsThatNeverCameBackAreDeleted() throws Exception {
    Path temporary = workingDirectory();
    Path directory = Files.createDirectories(root.resolve("radixflow"));
    Path recent = Files.createFile(directory.resolve("recent.running"));
    Path old = Files.createFile(directory.resolve("old.running"));
    Path foreign = Files.createFile(directory.resolve("foreign"));
    FileTime longAgo = FileTime.from(Instant.now().minus(Duration.ofDays(8)));
    Files.setLastModifiedTime(old, longAgo);
    Files.setLastModifiedTime(foreign, longAgo);
    CrashJournalFile.of(temporary.toFile(), "engine");
    assertThat(old).doesNotExist();
    assertThat(recent).exists();
    assertThat(foreign).exists();
  }
}
