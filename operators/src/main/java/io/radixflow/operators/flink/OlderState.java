package io.radixflow.operators.flink;

import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.KeyContext;

/**
 * Moves what older builds kept elsewhere to where it is now; once, after a restore, on the task's
 * thread. States that the restored checkpoint has not are not made.
 */
final class OlderState {
  private final KeyContext keys;
  private final KeyedStateStore store;
  private final KeyedStateBackend<String> backend;
  private final SessionState state;
  private final History history;

  OlderState(
      KeyContext keys,
      KeyedStateStore store,
      KeyedStateBackend<String> backend,
      SessionState state,
      History history) {
    this.keys = keys;
    this.store = store;
    this.backend = backend;
    this.state = state;
    this.history = history;
  }

  /** The current session's slot, from which the system prompt has gone to the history. */
  SessionSlot promptMoved(SessionSlot slot) throws Exception {
    if (slot.system() == null) {
      return slot;
    }
    history.begin(slot.system());
    SessionSlot moved = slot.promptMoved();
    state.putSlot(moved);
    return moved;
  }

  /** Moves what is known of pages into the slots. Changes the current key. */
  void movePages() throws Exception {
    List<String> sessions;
    try (Stream<String> known = backend.getKeys(SavedState.OLDER_PAGES, VoidNamespace.INSTANCE)) {
      sessions = known.toList();
    }
    if (sessions.isEmpty()) {
      return;
    }
    ValueState<SessionPages> older = store.getState(SavedState.olderPages());
    for (String session : sessions) {
      keys.setCurrentKey(session);
      SessionSlot slot = state.slot();
      if (slot != null && slot.life() == SessionSlot.Life.OPEN) {
        state.putPages(older.value());
      }
      older.clear();
    }
  }
}
