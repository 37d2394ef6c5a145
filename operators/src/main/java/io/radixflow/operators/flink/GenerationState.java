package io.radixflow.operators.flink;

import io.radixflow.operators.tier.DirectoryGenerations;
import io.radixflow.operators.tier.GenerationRef;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.OperatorStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StatePartitionStreamProvider;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What checkpoints remember of page directories: raw operator state, as it alone can be made in a
 * checkpoint's asynchronous part, where the mailbox does not wait. After a restore every subtask
 * has those of all, whatever the parallelism.
 *
 * <p>The format: version, engine, generation, digest.
 */
final class GenerationState {
  private static final Logger LOG = LoggerFactory.getLogger(GenerationState.class);
  private static final int VERSION = 1;

  private GenerationState() {}

  /** What the restored checkpoint has; what cannot be read is left out, as it is only a hint. */
  static List<GenerationRef> read(Iterable<StatePartitionStreamProvider> inputs) {
    List<GenerationRef> refs = new ArrayList<>();
    for (StatePartitionStreamProvider input : inputs) {
      try (DataInputStream in = new DataInputStream(input.getStream())) {
        int version = in.readInt();
        if (version == VERSION) {
          refs.add(new GenerationRef(in.readUTF(), in.readLong(), in.readUTF()));
        } else {
          LOG.warn("State of a page directory has the unknown version {}", version);
        }
      } catch (IOException e) {
        LOG.warn("State of a page directory cannot be read", e);
      }
    }
    return refs;
  }

  /**
   * Makes a generation of the directory and the state that names it, when it is run. A directory of
   * which none can be made leaves no state.
   */
  static RunnableFuture<SnapshotResult<OperatorStateHandle>> write(
      DirectoryGenerations directory, long checkpoint, CheckpointStreamFactory factory) {
    return new FutureTask<>(
        () -> {
          GenerationRef ref;
          try {
            ref = directory.make(checkpoint);
          } catch (IOException e) {
            LOG.warn("Checkpoint {} has no generation of the page directory", checkpoint, e);
            return SnapshotResult.empty();
          }
          return SnapshotResult.of(handle(ref, factory));
        });
  }

  private static OperatorStateHandle handle(GenerationRef ref, CheckpointStreamFactory factory)
      throws IOException {
    try (CheckpointStateOutputStream out =
        factory.createCheckpointStateOutputStream(CheckpointedStateScope.EXCLUSIVE)) {
      DataOutputStream data = new DataOutputStream(out);
      data.writeInt(VERSION);
      data.writeUTF(ref.engine());
      data.writeLong(ref.generation());
      data.writeUTF(ref.digest());
      data.flush();
      StreamStateHandle stream = out.closeAndGetHandle();
      // raw state under any other name is not found at the restore, which puts more into the map
      Map<String, OperatorStateHandle.StateMetaInfo> offsets = new HashMap<>();
      offsets.put(
          DefaultOperatorStateBackend.DEFAULT_OPERATOR_STATE_NAME,
          new OperatorStateHandle.StateMetaInfo(new long[] {0}, OperatorStateHandle.Mode.UNION));
      return new OperatorStreamStateHandle(offsets, stream);
    }
  }
}
