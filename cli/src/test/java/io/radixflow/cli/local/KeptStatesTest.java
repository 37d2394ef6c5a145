package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.jobs.config.LocalFiles;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptStatesTest {

  @TempDir Path directory;

  private KeptStates states;

  @BeforeEach
  void setUp() {
    states =
        new KeptStates(List.of(directory.resolve("checkpoints"), directory.resolve("savepoints")));
  }

  @Test
  void aFreshDirectoryHasNone() throws IOException {
    assertThat(states.latest()).isEmpty();
  }

  @Test
  void theHighestNumberIsTheLatestWhateverTheTimesOfTheFilesAre() throws IOException {
    write("checkpoints/job/chk-9", 9, 3000);
    Path latest = write("savepoints/savepoint-a", 12, 1000);
    write("checkpoints/other/chk-11", 11, 2000);
    assertThat(states.latest()).contains(LocalFiles.name(latest));
  }

  @Test
  void aStateThatIsCutOffIsNotTheLatest() throws IOException {
    Path whole = write("checkpoints/job/chk-9", 9, 1000);
    Path cut = write("checkpoints/job/chk-10", 10, 2000).resolve("_metadata");
    byte[] bytes = Files.readAllBytes(cut);
    Files.write(cut, Arrays.copyOf(bytes, bytes.length - 1));
    assertThat(states.latest()).contains(LocalFiles.name(whole));
  }

  @Test
  void aDirectoryWithDamagedStatesAloneIsNotTakenForAFreshOne() throws IOException {
    Path metadata = write("checkpoints/job/chk-9", 9, 1000).resolve("_metadata");
    Files.writeString(metadata, "nothing of the kind");
    assertThatThrownBy(states::latest)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(metadata.toString())
        .hasMessageContaining("the state of the conversations cannot be read");
  }

  private Path write(String name, long number, long time) throws IOException {
    Path state = Files.createDirectories(directory.resolve(name));
    Path metadata = state.resolve("_metadata");
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(metadata))) {
      Checkpoints.storeCheckpointMetadata(
          new CheckpointMetadata(number, List.of(), List.of(), null), out);
    }
    Files.setLastModifiedTime(metadata, FileTime.fromMillis(time));
    return state;
  }
}
