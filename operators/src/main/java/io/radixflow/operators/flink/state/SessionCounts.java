package io.radixflow.operators.flink.state;

import io.radixflow.operators.flink.engine.TenantCounts;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Counts the subtask's open sessions by state. The state depends on where the session's pages are,
 * as recorded in its slot after its last turn or query. The counts are in memory and are computed
 * again after a restore. Only the task's thread changes the counts; any thread may read them.
 */
public final class SessionCounts {
  private final TenantCounts.Share open;
  private final Predicate<String> busy;
  private final Function<SessionSlot, TierTokens> pages;
  private final AtomicIntegerArray states = new AtomicIntegerArray(SlotState.values().length);

  /**
   * @param open this subtask's share of the TaskManager's open sessions
   * @param busy whether a session has turns that run or wait
   * @param pages returns where the pages of a slot are; always the same for the same slot
   */
  public SessionCounts(
      TenantCounts.Share open, Predicate<String> busy, Function<SessionSlot, TierTokens> pages) {
    this.open = open;
    this.busy = busy;
    this.pages = pages;
  }

  public int count() {
    return open.count();
  }

  public int count(SlotState state) {
    return states.get(state.ordinal());
  }

  /**
   * Admits a session that is about to be opened.
   *
   * @return null if the session was counted, else the limit that is reached
   */
  public TenantCounts.Full tryOpen(String tenant, int tenantLimit, int limit) {
    return open.tryAdd(tenant, 0, tenantLimit, limit);
  }

  /** Counts a session of the restored state. */
  public void restored(String session, SessionSlot slot) {
    if (isOpen(slot)) {
      open.add(slot.tenant());
      states.incrementAndGet(state(session, slot).ordinal());
    }
  }

  /** Returns the state of a session; null if it is not open. */
  SlotState state(String session, SessionSlot slot) {
    if (!isOpen(slot)) {
      return null;
    }
    return busy.test(session) ? SlotState.HOT : pages.apply(slot).state(false);
  }

  /**
   * Updates the counts after a session may have changed. A session that was just opened has been
   * counted by {@link #tryOpen}.
   *
   * @param counted the result of {@link #state} or of the last call
   * @param before the slot at that time, or null
   * @param after the slot now, or null
   * @return the state of the session now
   */
  SlotState moved(String session, SlotState counted, SessionSlot before, SessionSlot after) {
    SlotState now = state(session, after);
    if (counted != null) {
      states.decrementAndGet(counted.ordinal());
    }
    if (now != null) {
      states.incrementAndGet(now.ordinal());
    }
    if (isOpen(before) && !isOpen(after)) {
      open.remove(before.tenant());
    }
    return now;
  }

  private static boolean isOpen(SessionSlot slot) {
    return slot != null && slot.opened() && slot.life() == Life.OPEN;
  }
}
