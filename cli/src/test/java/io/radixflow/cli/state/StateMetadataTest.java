package io.radixflow.cli.state;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.OperatorStreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateMetadataTest {

  private static final String STATE = "a state within the file";

  @TempDir Path directory;

  private byte[] whole;

  @BeforeEach
  void write() throws IOException {
    OperatorState operator = new OperatorState("serving", "serving", new OperatorID(), 1, 1);
    operator.putState(
        0,
        OperatorSubtaskState.builder()
            .setManagedOperatorState(
                new OperatorStreamStateHandle(
                    Map.of(), new ByteStreamStateHandle("state", STATE.getBytes(ISO_8859_1))))
            .build());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Checkpoints.storeCheckpointMetadata(
        new CheckpointMetadata(7, List.of(operator), List.of(), null), new DataOutputStream(bytes));
    whole = bytes.toByteArray();
  }

  @Test
  void aWholeFileHasItsNumber() throws IOException {
    assertThat(StateMetadata.read(file(whole)).getCheckpointId()).isEqualTo(7);
  }

  @Test
  void aFileThatIsCutOffAnywhereIsRefusedByName() throws IOException {
    for (int length = 0; length < whole.length; length++) {
      assertRefused(Arrays.copyOf(whole, length));
    }
  }

  @Test
  void aSizeBeyondAnyMemoryIsRefusedByName() throws IOException {
    for (int size : new int[] {Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
      ByteBuffer damaged = ByteBuffer.wrap(whole.clone());
      damaged.putInt(new String(whole, ISO_8859_1).indexOf(STATE) - 4, size);
      assertRefused(damaged.array());
    }
  }

  @Test
  void aFileThatIsNoSavepointIsRefusedBeforeAJobReadsIt() throws IOException {
    file("nothing of the kind".getBytes(ISO_8859_1));
    assertThatThrownBy(() -> new Savepoint(directory, directory))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(directory + " cannot be read as a savepoint of this job: ");
  }

  private void assertRefused(byte[] content) throws IOException {
    Path file = file(content);
    assertThatThrownBy(() -> StateMetadata.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(file + " is damaged, or of another version: ");
  }

  private Path file(byte[] content) throws IOException {
    return Files.write(directory.resolve(StateMetadata.FILE), content);
  }
}
