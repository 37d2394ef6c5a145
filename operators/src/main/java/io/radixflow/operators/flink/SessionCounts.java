package io.radixflow.operators.flink;

import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;

/** Counts the subtask's open sessions. In memory; counted again after a restore. */
final class SessionCounts {
  private final TenantCounts.Share share;

  /**
   * @param share of the TaskManager's open sessions
   */
  SessionCounts(TenantCounts.Share share) {
    this.share = share;
  }

  int count() {
    return share.count();
  }

  /**
   * A session is to be opened.
   *
   * @return null if it is counted, else what is full
   */
  TenantCounts.Full tryOpen(String tenant, int tenantLimit, int limit) {
    return share.tryAdd(tenant, 0, tenantLimit, limit);
  }

  /** A session that was found in state. */
  void restored(SessionSlot slot) {
    if (isOpen(slot)) {
      share.add(slot.tenant());
    }
  }

  /**
   * A session is closed, erased or forgotten.
   *
   * @param before its slot until then
   */
  void ended(SessionSlot before) {
    if (isOpen(before)) {
      share.remove(before.tenant());
    }
  }

  private static boolean isOpen(SessionSlot slot) {
    return slot.opened() && slot.life() == Life.OPEN;
  }
}
