package io.radixflow.operators.flink.engine;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns the checkpointed state of disk tiers: the ids of the engines with a disk. Pages and their
 * index are in one RocksDB on the disk, which outlives the process, so a checkpoint copies neither.
 * Keyed state records where a session's pages are. An engine empties its disk if its id is not in
 * the restored checkpoint, because sessions may have been erased while it was away. After a restore
 * every subtask knows all ids. Only the task's thread calls this.
 */
public final class CheckpointedDisks {
  private final ListState<String> saved;
  private final Set<String> restored = new HashSet<>();

  public CheckpointedDisks(OperatorStateStore store) throws Exception {
    saved = store.getUnionListState(new ListStateDescriptor<>("disk-tiers", Types.STRING));
    saved.get().forEach(restored::add);
  }

  /** Returns the ids of the engines whose disks match the restored checkpoint. */
  public Set<String> restored() {
    return Set.copyOf(restored);
  }

  /**
   * Writes the state of a checkpoint.
   *
   * @param engine id of this subtask's engine; null if it has no disk tier
   */
  public void save(String engine) throws Exception {
    saved.update(engine == null ? List.of() : List.of(engine));
  }
}
