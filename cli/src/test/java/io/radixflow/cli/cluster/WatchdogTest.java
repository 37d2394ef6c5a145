package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WatchdogTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path dir;

  @Test
  void processesAndDirectoryGoWithAnOwnerThatIsKilled() throws Exception {
    Path state = Files.createDirectories(dir.resolve("state of it/deep"));
    Path announced = dir.resolve("pid");
    List<String> command =
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            WatchdogOwner.class.getName(),
            state.getParent().toString(),
            announced.toString());
    try (JavaProcess owner = JavaProcess.start("owner", command, Map.of(), dir.resolve("output"))) {
      await().atMost(PATIENCE).until(() -> Files.exists(announced) || !owner.isAlive());
      long watched = Long.parseLong(Files.readString(announced));
      assertThat(ProcessHandle.of(watched)).isPresent();

      owner.kill();

      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> assertThat(ProcessHandle.of(watched).filter(ProcessHandle::isAlive)).isEmpty());
    }
    await().atMost(PATIENCE).until(() -> !Files.exists(state.getParent()));
  }

  @Test
  void oneThatWasKilledIsDismissedWithoutAnError() throws Exception {
    Watchdog watchdog = Watchdog.start();
    ProcessHandle shell = ProcessHandle.of(watchdog.pid()).orElseThrow();
    shell.destroyForcibly();
    shell.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

    assertThatCode(watchdog::close).doesNotThrowAnyException();
  }

  @Test
  void aDismissedWatchdogTouchesNothing() throws Exception {
    Path state = Files.createDirectory(dir.resolve("state"));
    Process watched = new ProcessBuilder("sleep", "600").start();
    try {
      Watchdog watchdog = Watchdog.start();
      watchdog.delete(state);
      watchdog.watch(watched);
      watchdog.close();

      assertThat(ProcessHandle.of(watchdog.pid()).filter(ProcessHandle::isAlive)).isEmpty();
      assertThat(watched.isAlive()).isTrue();
      assertThat(state).exists();
    } finally {
      watched.destroyForcibly();
    }
  }
}
