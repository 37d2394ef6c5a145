package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.cli.cluster.CommandProcess;
import io.radixflow.cli.cluster.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a benchmark in a process of its own that is asked to end. */
class TerminatedBenchITCase {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @TempDir Path dir;

  @Test
  void aBenchmarkThatIsTerminatedDeletesItsFiles() throws IOException {
    Path temporary = Files.createDirectory(dir.resolve("tmp"));
    try (JavaProcess bench =
        CommandProcess.start(
            dir,
            dir.resolve("output"),
            List.of("-Djava.io.tmpdir=" + temporary),
            List.of("bench", "disk", "--pages", "100000000"))) {
      await()
          .atMost(PATIENCE)
          .failFast("the benchmark ended by itself", () -> !bench.isAlive())
          // the database renames and deletes files while they are listed
          .ignoreExceptionsInstanceOf(UncheckedIOException.class)
          .until(() -> hasFilesOfTheDatabase(temporary));
      bench.terminate(PATIENCE);
    }
    try (Stream<Path> left = Files.list(temporary)) {
      assertThat(left.filter(file -> file.getFileName().toString().startsWith("radixflow-")))
          .isEmpty();
    }
  }

  private static boolean hasFilesOfTheDatabase(Path temporary) throws IOException {
    try (Stream<Path> files = Files.walk(temporary)) {
      return files.anyMatch(file -> file.getFileName().toString().equals("CURRENT"));
    }
  }
}
