package io.radixflow.operators.flink;

import io.radixflow.operators.tier.store.TenantKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;

/**
 * Keeps the keys of tenants' pages in checkpoints and passes those that this subtask's engine draws
 * on to the engines of all others. See {@link TenantKeys} for why they are nowhere else. After a
 * restore every engine has all keys. The task's thread alone calls this.
 */
final class PageKeys {
  private final TenantKeys keys;
  private final int subtask;
  private final int subtasks;
  private final ListState<Tuple3<Long, Long, byte[]>> saved;

  /** A key that another engine has drawn; travels through the JobManager to all subtasks. */
  record Drawn(TenantKeys.Key key) implements OperatorEvent {}

  /**
   * Gives the engine the keys of the restored checkpoint.
   *
   * @param keys those of the engine
   */
  PageKeys(OperatorStateStore store, TenantKeys keys, int subtask, int subtasks) throws Exception {
    this.keys = keys;
    this.subtask = subtask;
    this.subtasks = subtasks;
    saved =
        store.getUnionListState(
            new ListStateDescriptor<>(
                "page-keys",
                Types.TUPLE(
                    Types.LONG,
                    Types.LONG,
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)));
    List<TenantKeys.Key> restored = new ArrayList<>();
    for (Tuple3<Long, Long, byte[]> key : saved.get()) {
      restored.add(new TenantKeys.Key(key.f0, key.f1, key.f2));
    }
    keys.restore(restored);
  }

  /** Passes on what the engine draws from now on. */
  void passOn(MailboxExecutor mailbox, OperatorEventGateway coordinator) {
    keys.whenDrawn(
        key -> {
          try {
            mailbox.execute(
                () -> coordinator.sendEventToCoordinator(new Drawn(key)),
                "key of a tenant's pages");
          } catch (RejectedExecutionException closing) {
            // the task is going away; its pages under this key will be misses elsewhere
          }
        });
  }

  void hear(Drawn event) {
    keys.hear(event.key());
  }

  void save() throws Exception {
    List<Tuple3<Long, Long, byte[]>> state = new ArrayList<>();
    for (TenantKeys.Key key : keys.toSave(subtask, subtasks)) {
      state.add(Tuple3.of(key.id(), key.tenant(), key.secret()));
    }
    saved.update(state);
  }
}
