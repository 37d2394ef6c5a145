package io.radixflow.operators.flink.engine;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns what a checkpoint keeps of disk tiers: the ids of the engines that had one. Pages and their
 * index are in one RocksDB on the disk itself, which outlives the process, so a checkpoint copies
 * neither; keyed state has where a session's pages are. An engine whose id is not in the restored
 * checkpoint was away and empties its disk, as sessions may have been erased meanwhile. After a
 * restore every subtask knows the ids of all. The task's thread alone calls this.
 */
public final class CheckpointedDisks {
  private final ListState<String> saved;
  private final Set<String> restored = new HashSet<>();

  public CheckpointedDisks(OperatorStateStore store) throws Exception {
    saved = store.getUnionListState(new ListStateDescriptor<>("disk-tiers", Types.STRING));
    saved.get().forEach(restored::add);
  }

  /** Returns the ids of the engines whose disks the restored checkpoint goes with. */
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
