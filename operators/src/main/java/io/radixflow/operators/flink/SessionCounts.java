package io.radixflow.operators.flink;

import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.HashMap;
import java.util.Map;

/** Counts the subtask's open sessions, also by tenant. In memory; counted again after a restore. */
final class SessionCounts {
  private final Map<String, Integer> tenants = new HashMap<>();
  private int count;

  int count() {
    return count;
  }

  int ofTenant(String tenant) {
    return tenants.getOrDefault(tenant, 0);
  }

  void opened(String tenant) {
    count++;
    tenants.merge(tenant, 1, Integer::sum);
  }

  /** A session that was found in state. */
  void restored(SessionSlot slot) {
    if (isOpen(slot)) {
      opened(slot.tenant());
    }
  }

  /**
   * A session is closed, erased or forgotten.
   *
   * @param before its slot until then
   */
  void ended(SessionSlot before) {
    if (isOpen(before)) {
      count--;
      tenants.computeIfPresent(before.tenant(), (tenant, n) -> n == 1 ? null : n - 1);
    }
  }

  private static boolean isOpen(SessionSlot slot) {
    return slot.opened() && slot.life() == Life.OPEN;
  }
}
