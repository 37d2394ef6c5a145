package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.SessionSlot;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Caches the slots of recently used sessions, so that an event and the end of its turn do not read
 * and decode them from RocksDB again. The keyed state remains the owner: each change is written
 * there immediately. Slots with their own generation options are left out, because senders choose
 * the size of the options. Only the task's thread uses it.
 */
final class RecentSlots {
  private final int capacity;
  private final Map<String, SessionSlot> slots = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * @param capacity maximum number of slots
   */
  RecentSlots(int capacity) {
    this.capacity = capacity;
  }

  /** Returns the slot of a session, or null if it is not cached. */
  SessionSlot get(String session) {
    return slots.get(session);
  }

  /** Caches the slot of a session as the state has it; null for none. */
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
