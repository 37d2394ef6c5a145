package io.radixflow.cli.command.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogFilesTest {

  /** Above what Linux gives to a process. */
  private static final long NO_PROCESS = 5_000_000;

  @TempDir Path directory;

  @Test
  void theNewestFilesOfEndedProcessesAndAllOfRunningOnesStay() throws IOException {
    String running = LogFiles.name("20200101-000000", ProcessHandle.current()) + LogFiles.SUFFIX;
    for (String name : List.of(running, "radixflow.log", "radixflow.1.log", "notes.log")) {
      Files.createFile(directory.resolve(name));
    }
    for (int day = 10; day < 40; day++) {
      Files.createFile(
          directory.resolve("radixflow-202101%d-000000-%d.log".formatted(day, NO_PROCESS)));
    }
    new LogFiles(directory).deleteOld();
    assertThat(names())
        .hasSize(22)
        .contains(
            running,
            "notes.log",
            "radixflow-20210139-000000-5000000.log",
            "radixflow-20210120-000000-5000000.log");
  }

  @Test
  void aDirectoryThatIsNotThereIsNoError() {
    Path missing = directory.resolve("missing");
    new LogFiles(missing).deleteOld();
    assertThat(missing).doesNotExist();
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
