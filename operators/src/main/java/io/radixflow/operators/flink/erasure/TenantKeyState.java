package io.radixflow.operators.flink.erasure;

import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.operators.flink.engine.EngineTiers;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.TaskInfo;
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
 * Stores the keys of tenants' pages in checkpoints, and sends keys that this subtask's engine draws
 * to all other engines. {@link TenantKeys} explains why the keys are stored nowhere else. After a
 * restore every engine has all keys. Only the task's thread uses this.
 */
public final class TenantKeyState {
  private final EngineTiers tiers;
  private final TaskInfo task;
  private final ListState<Tuple3<Long, Long, byte[]>> saved;

  /** A key that another engine has drawn; the JobManager sends it to all subtasks. */
  public record Drawn(TenantKeys.Key key) implements OperatorEvent {}

  /**
   * Gives the engine the keys of the restored checkpoint.
   *
   * @param tiers the engine's tiers
   */
  public TenantKeyState(OperatorStateStore store, EngineTiers tiers, TaskInfo task)
      throws Exception {
    this.tiers = tiers;
    this.task = task;
    saved =
        store.getUnionListState(
            new ListStateDescriptor<>(
                "page-keys",
                Types.TUPLE(
                    Types.LONG,
                    Types.LONG,
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)));
    for (Tuple3<Long, Long, byte[]> key : saved.get()) {
      tiers.keys().add(new TenantKeys.Key(key.f0, key.f1, key.f2));
    }
  }

  /** From now on, sends each key that the engine draws to all other engines. */
  public void passOn(MailboxExecutor mailbox, OperatorEventGateway coordinator) {
    tiers
        .keys()
        .whenDrawn(
            key -> {
              try {
                mailbox.execute(
                    () -> coordinator.sendEventToCoordinator(new Drawn(key)),
                    "key of a tenant's pages");
              } catch (RejectedExecutionException closing) {
                // the task is closing; pages under this key will be cache misses for other engines
              }
            });
  }

  /** Gives the engine a key that another engine has drawn. */
  public void receive(Drawn event) {
    tiers.keys().add(event.key());
  }

  void delete(String tenant) {
    tiers.keys().deleteAll(tiers.tenantTag(tenant));
  }

  /** Deletes keys that another engine has deleted; {@code ids} are their ids, concatenated. */
  void delete(byte[] ids) {
    for (ByteBuffer left = ByteBuffer.wrap(ids); left.hasRemaining(); ) {
      tiers.keys().delete(left.getLong());
    }
  }

  /** Returns the ids of a tenant's keys that the engine has deleted, concatenated. */
  byte[] deleted(String tenant) {
    List<Long> ids = tiers.keys().deleted(tiers.tenantTag(tenant));
    ByteBuffer row = ByteBuffer.allocate(ids.size() * Long.BYTES);
    ids.forEach(row::putLong);
    return row.array();
  }

  /** Writes this subtask's share of the keys to the checkpoint. */
  public void save() throws Exception {
    List<Tuple3<Long, Long, byte[]>> state = new ArrayList<>();
    for (TenantKeys.Key key :
        tiers.keys().toSave(task.getIndexOfThisSubtask(), task.getNumberOfParallelSubtasks())) {
      state.add(Tuple3.of(key.id(), key.tenant(), key.secret()));
    }
    saved.update(state);
  }
}
