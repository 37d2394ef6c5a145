package io.radixflow.operators.flink.erasure;

import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;

/**
 * Owns the tenants of whom sessions may still have to be erased, each with the number of the
 * control event that said so.
 *
 * <p>Subtasks get done at different times and their key groups may move, so what any of them has
 * not done is begun again by all after a restore. A session that was opened since is spared: its
 * slot has the number of the last erasure that its subtask knew then, and control events come to
 * all subtasks in one order.
 */
public final class PendingErasures {
  private final ListState<Tuple2<String, Long>> saved;
  private final Map<String, Long> tenants = new HashMap<>();

  /** Those whose sessions this subtask has erased, but whose pages may still be there. */
  private final Set<String> passed = new HashSet<>();

  public PendingErasures(OperatorStateStore store) throws Exception {
    saved =
        store.getUnionListState(
            new ListStateDescriptor<>("pending-erasures", Types.TUPLE(Types.STRING, Types.LONG)));
    for (Tuple2<String, Long> each : saved.get()) {
      add(each.f0, each.f1);
    }
  }

  public void save() throws Exception {
    saved.clear();
    for (Map.Entry<String, Long> each : tenants.entrySet()) {
      saved.add(Tuple2.of(each.getKey(), each.getValue()));
    }
  }

  public int size() {
    return tenants.size();
  }

  public void add(String tenant, long number) {
    tenants.merge(tenant, number, Math::max);
    passed.remove(tenant);
  }

  /** Whether there are tenants whose sessions have to be gone through. */
  public boolean isBusy() {
    return passed.size() < tenants.size();
  }

  /** The tenants whose sessions have to be gone through, a copy. */
  public Map<String, Long> toPass() {
    Map<String, Long> left = new HashMap<>(tenants);
    left.keySet().removeAll(passed);
    return left;
  }

  /** The sessions of a tenant are erased, unless they are to be once more. */
  public void pass(String tenant, long number) {
    if (tenants.get(tenant) == number) {
      passed.add(tenant);
    }
  }

  /** All of a tenant is erased, unless it is to be once more. */
  public void done(String tenant, long number) {
    if (tenants.remove(tenant, number)) {
      passed.remove(tenant);
    }
  }

  /** Whether a session has to be erased. */
  public boolean cover(SessionSlot slot) {
    if (tenants.isEmpty() || !slot.opened() || slot.life() == Life.ERASED) {
      return false;
    }
    Long number = tenants.get(slot.tenant());
    return number != null && slot.erasures() < number;
  }
}
