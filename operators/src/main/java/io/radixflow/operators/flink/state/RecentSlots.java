package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.SessionSlot;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Slots of the sessions that were used last, so that an event and the end of its turn do not read
 * and decode them from RocksDB again. The keyed state stays the owner: each change is written there
 * at once. A slot with generation options of its own, whose size its sender chose, is left out.
 * Only the task's thread uses it.
 */
final class RecentSlots {
  private final int capacity;
  private final Map<String, SessionSlot> slots = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * @param capacity slots that are kept at most
   */
  RecentSlots(int capacity) {
    this.capacity = capacity;
  }

  /** Returns the slot of a session, or null if it is not here. */
  SessionSlot get(String session) {
    return slots.get(session);
  }

  /** Keeps the slot that the state has of a session; null for none. */
  void put(String session, SessionSlot slot) {
    if (slot == null || slot.defaults() != null) {
      slots.remove(session);
      return;
    }
    slots.put(session, slot);
    if (slots.size() > capacity) {
      slots.remove(slots.keySet().iterator().next());
    }
  }

  void remove(String session) {
    slots.remove(session);
  }
}
