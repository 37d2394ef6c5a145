package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessLauncherTest {

  @TempDir Path dir;
  private FlinkHome home;

  @BeforeEach
  void layOut() throws IOException {
    Path jar = Files.createFile(dir.resolve("some.jar"));
    Path job = Files.createFile(dir.resolve("job.jar"));
    home = new FlinkHome(dir.resolve("home"), new ClusterJars(List.of(), jar, job), Map.of(), 1);
  }

  private static JavaProcess start(ProcessLauncher launcher) throws IOException {
    return launcher.own("owner", List.of("-Xmx32m"), "NoSuchClass", List.of());
  }

  @Test
  void nothingStartsOnceItIsClosed() throws IOException {
    try (Watchdog watchdog = Watchdog.start()) {
      ProcessLauncher launcher = new ProcessLauncher(home, watchdog);
      JavaProcess first = start(launcher);
      launcher.close();
      assertThat(first.isAlive()).isFalse();
      assertThatIOException()
          .isThrownBy(() -> start(launcher))
          .withMessage("the cluster is closed: owner-2 is not started");
      assertThat(launcher.alive(null)).isEmpty();
    }
  }

  @Test
  void aProcessThatCannotBeWatchedIsKilled() throws IOException {
    Watchdog dismissed = Watchdog.start();
    dismissed.close();
    try (ProcessLauncher launcher = new ProcessLauncher(home, dismissed)) {
      assertThatIOException()
          .isThrownBy(() -> start(launcher))
          .withMessage("nothing would end owner-1 with this process");
      assertThat(launcher.alive(null)).isEmpty();
    }
  }
}
