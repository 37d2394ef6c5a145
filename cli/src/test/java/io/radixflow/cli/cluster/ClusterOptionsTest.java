package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterOptionsTest {

  @TempDir Path dir;

  @Test
  void aDirectoryThatIsInUseIsRefused() throws IOException {
    Files.createFile(dir.resolve("something"));

    assertThatThrownBy(
            () ->
                ProcessCluster.start(
                    new ClusterJars(List.of(), dir, dir), ClusterOptions.SMALL.in(dir), s -> {}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not empty");
  }

  @Test
  void jarsThatAreNotBuiltAreNamed() {
    Path missing = dir.resolve("job.jar");

    assertThatThrownBy(() -> ClusterJars.ofThisProcess(missing, missing))
        .hasMessageContaining(missing + "; build it");
  }

  @Test
  void aFailedInstallationLeavesNoProcess() {
    Path missing = dir.resolve("job.jar");
    List<ProcessHandle> before = ProcessHandle.current().children().toList();

    assertThatThrownBy(
            () ->
                ProcessCluster.start(
                    new ClusterJars(List.of(), missing, missing), ClusterOptions.SMALL, s -> {}))
        .isInstanceOf(NoSuchFileException.class);
    assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
        .isSubsetOf(before);
  }

  @Test
  void stateLiesInTheDirectoryAlsoIfItsNameHasASpace() {
    FlinkSettings settings =
        new FlinkSettings(Path.of("/kept data/50%"), 2181, ClusterOptions.SMALL);

    assertThat(settings.all())
        .containsEntry("execution.checkpointing.dir", "file:/kept data/50%/checkpoints")
        .containsEntry("high-availability.storageDir", "file:/kept data/50%/high-availability");
  }

  @Test
  void memoryIsGivenToProcessesAsFlinksScriptsDo() {
    FlinkSettings settings =
        new FlinkSettings(
            dir,
            2181,
            new ClusterOptions(
                Optional.empty(), 1, 1, 2, "300m", true, 0, Map.of("heartbeat.timeout", "9000")));

    assertThat(settings.all()).containsEntry("heartbeat.timeout", "9000");
    assertThat(settings.taskManager().jvmFlags()).anyMatch(flag -> flag.startsWith("-Xmx"));
    assertThat(settings.taskManager().arguments())
        .containsSequence("-D", "taskmanager.memory.task.heap.size=" + (300 << 20) + "b");
    assertThat(settings.jobManager().jvmFlags()).contains("-Xmx" + (256 << 20));
  }

  @Test
  void aClusterWithoutSlotsOrJobManagersIsRefused() {
    assertThatThrownBy(() -> new ClusterOptions(Optional.empty(), 0, 1, 1, "1g", true, 0, Map.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
