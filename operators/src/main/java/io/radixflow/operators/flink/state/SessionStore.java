package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.Reply;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.state.rocksdb.RocksDBKeyedStateBackend;

/**
 * Owns the keyed state of the subtask's sessions, and loads each session as a {@link
 * SessionContext}. The state consists of
 *
 * <ul>
 *   <li>the {@link SessionSlot}, the small part that every event reads and writes;
 *   <li>the {@link History}: finished turns and branches;
 *   <li>accepted turns without a reply, by number;
 *   <li>progress of running turns, one list for each turn. The number of the turn is the namespace
 *       of the state, so a checkpoint only appends and a reply only clears;
 *   <li>64-bit hashes of all turn ids, with the time when each came; they outlive the turns;
 *   <li>cancels that came before their turns, by the same hash;
 *   <li>the ends of recent turns that are not in the history, by turn id.
 * </ul>
 *
 * <p>Only the task's thread uses it.
 */
public final class SessionStore {
  /** The most slots in memory. An active session's slot is not read again for each event. */
  private static final int RECENT_SLOTS = 4096;

  private static final ListStateDescriptor<TurnProgress> PROGRESS =
      new ListStateDescriptor<>("progress", TypeInformation.of(TurnProgress.class));

  private final KeyedStateBackend<String> backend;
  private final SessionCounts counts;
  private final IdleTimers timers;
  private final ValueState<SessionSlot> slot;
  private final RecentSlots recent = new RecentSlots(RECENT_SLOTS);
  final History history;
  final MapState<Long, PendingTurn> pending;
  final MapState<Long, Long> turnIds;
  final MapState<Long, Long> earlyCancels;
  final MapState<String, Reply.TurnState> endedTurns;

  /**
   * @param counts updated whenever a session is saved
   * @param timers expire sessions
   */
  public SessionStore(
      KeyedStateStore store,
      KeyedStateBackend<String> backend,
      SessionCounts counts,
      IdleTimers timers) {
    this.backend = backend;
    this.counts = counts;
    this.timers = timers;
    this.slot = store.getState(SavedState.slot());
    this.history = new History(store, backend);
    this.pending = store.getMapState(SavedState.pendingTurns());
    this.turnIds = store.getMapState(SavedState.turnIds());
    this.earlyCancels =
        store.getMapState(new MapStateDescriptor<>("early-cancels", Types.LONG, Types.LONG));
    this.endedTurns =
        store.getMapState(
            new MapStateDescriptor<>(
                "ended-turns", Types.STRING, TypeInformation.of(Reply.TurnState.class)));
  }

  /** Makes a session the current key and reads its slot. */
  public SessionContext load(String session) throws Exception {
    select(session);
    SessionSlot known = recent.get(session);
    if (known == null) {
      known = slot.value();
      recent.put(session, known);
    }
    return new SessionContext(this, session, known);
  }

  /** Writes the slot of the current session. */
  void update(SessionSlot changed) throws Exception {
    slot.update(changed);
    recent.put(backend.getCurrentKey(), changed);
  }

  /** Removes the slot of the current session. */
  void clearSlot() {
    slot.clear();
    recent.remove(backend.getCurrentKey());
  }

  /** Makes a session the current key. */
  public void select(String session) {
    if (!session.equals(backend.getCurrentKey())) {
      backend.setCurrentKey(session);
    }
  }

  public SessionCounts counts() {
    return counts;
  }

  IdleTimers timers() {
    return timers;
  }

  /** Returns the time in milliseconds since the epoch. */
  long now() {
    return timers.now();
  }

  /**
   * Returns the ids of all sessions of the subtask; a copy, so the caller may change their state.
   */
  public List<String> sessions() {
    return keysOf(SavedState.SLOT);
  }

  /**
   * Returns the ids of all sessions of the subtask. The sessions' state may change while the stream
   * is read. The caller closes the stream. RocksDB reads the ids one by one from a snapshot, so
   * they include sessions that ended after the call. The heap backend can only read all ids at
   * once.
   */
  public Stream<String> sessionsOneByOne() {
    return backend instanceof RocksDBKeyedStateBackend
        ? backend.getKeys(SavedState.SLOT, VoidNamespace.INSTANCE)
        : sessions().stream();
  }

  /** Returns the ids of the sessions that have turns without a reply; a copy. */
  public List<String> sessionsWithPendingTurns() {
    return keysOf(SavedState.PENDING);
  }

  private List<String> keysOf(String state) {
    try (Stream<String> keys = backend.getKeys(state, VoidNamespace.INSTANCE)) {
      return keys.toList();
    }
  }

  /** Returns the progress of a turn of the current session. */
  public ListState<TurnProgress> progressOf(long turn) throws Exception {
    return backend.getPartitionedState(turn, LongSerializer.INSTANCE, PROGRESS);
  }
}
