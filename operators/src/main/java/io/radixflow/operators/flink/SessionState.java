package io.radixflow.operators.flink;

import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Progress;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 * Owns the keyed state of a session, but for its {@link History}; every call acts on the current
 * key.
 *
 * <ul>
 *   <li>the {@link SessionSlot}, of whose {@link SessionPages} nothing but answers to people
 *       depends;
 *   <li>turns from acceptance to reply, by number;
 *   <li>what running turns gained, a list for each turn: the turn's number is the state's
 *       namespace, so that a checkpoint appends and a reply clears, and neither reads;
 *   <li>64-bit hashes of all turn ids seen, with the time, which outlive the turns and are known as
 *       long as the session;
 *   <li>cancels for turns not seen yet, by the same hash.
 * </ul>
 */
final class SessionState {
  private static final ListStateDescriptor<Progress> PROGRESS =
      new ListStateDescriptor<>("progress", TypeInformation.of(Progress.class));

  /** Cancels for unseen turns that one session may have. */
  private static final int MAX_EARLY_CANCELS = 64;

  private final KeyedStateBackend<String> backend;
  private final ValueState<SessionSlot> slot;
  private final MapState<Long, PendingTurn> pending;
  private final MapState<Long, Long> turnIds;
  private final MapState<Long, Long> earlyCancels;

  SessionState(KeyedStateStore store, KeyedStateBackend<String> backend) {
    this.backend = backend;
    this.slot = store.getState(SavedState.slot());
    this.pending = store.getMapState(SavedState.pendingTurns());
    this.turnIds = store.getMapState(SavedState.turnIds());
    this.earlyCancels =
        store.getMapState(new MapStateDescriptor<>("early-cancels", Types.LONG, Types.LONG));
  }

  /** Sessions of this subtask; a copy, so that their state may be changed meanwhile. */
  List<String> sessions() {
    return keysOf(SavedState.SLOT);
  }

  /**
   * Sessions of this subtask, whose state may be changed meanwhile; to be closed. RocksDB reads
   * them one by one as they were at the call, also those that ended since; the heap can only be
   * read at once.
   */
  Stream<String> sessionsOneByOne() {
    return backend instanceof RocksDBKeyedStateBackend
        ? backend.getKeys(SavedState.SLOT, VoidNamespace.INSTANCE)
        : sessions().stream();
  }

  /** Sessions of this subtask that wait for a reply; a copy. */
  List<String> sessionsWithPendingTurns() {
    return keysOf(SavedState.PENDING);
  }

  private List<String> keysOf(String state) {
    try (Stream<String> keys = backend.getKeys(state, VoidNamespace.INSTANCE)) {
      return keys.toList();
    }
  }

  /** The slot, or null if the session is unknown. */
  SessionSlot slot() throws Exception {
    return slot.value();
  }

  void putSlot(SessionSlot value) throws Exception {
    slot.update(value);
  }

  /** Where its pages were when that was last known, or null. */
  SessionPages pages() throws Exception {
    SessionSlot known = slot.value();
    return known == null ? null : known.pages();
  }

  void putPages(SessionPages value) throws Exception {
    slot.update(slot.value().located(value));
  }

  void addPending(PendingTurn turn) throws Exception {
    pending.put(turn.id(), turn);
  }

  PendingTurn pending(long id) throws Exception {
    return pending.get(id);
  }

  /** All turns without a reply, in order. */
  List<PendingTurn> pending() throws Exception {
    List<PendingTurn> turns = new ArrayList<>();
    pending.values().forEach(turns::add);
    turns.sort(Comparator.comparingLong(PendingTurn::id));
    return turns;
  }

  /** Forgets a turn without progress; in the mail that emits its reply. */
  void removePending(long id) throws Exception {
    pending.remove(id);
  }

  /** Forgets what a turn gained up to the last checkpoint; needless if that was nothing. */
  void removeProgress(long id) throws Exception {
    progressOf(id).clear();
  }

  void addProgress(long id, Progress gained) throws Exception {
    progressOf(id).add(gained);
  }

  /** What a turn gained up to the last checkpoint, in order. */
  List<Progress> progress(long id) throws Exception {
    List<Progress> gained = new ArrayList<>();
    Iterable<Progress> saved = progressOf(id).get();
    if (saved != null) { // internal state, unlike user state, has no empty list
      saved.forEach(gained::add);
    }
    return gained;
  }

  private ListState<Progress> progressOf(long id) throws Exception {
    return backend.getPartitionedState(id, LongSerializer.INSTANCE, PROGRESS);
  }

  /**
   * Records a turn id.
   *
   * @return false if it was seen before
   */
  boolean recordTurnId(long hash, long now) throws Exception {
    if (turnIds.contains(hash)) {
      return false;
    }
    turnIds.put(hash, now);
    return true;
  }

  boolean hasSeenTurnId(long hash) throws Exception {
    return turnIds.contains(hash);
  }

  /** Keeps a cancel for a turn that is still to come. */
  void addEarlyCancel(long hash, long expiry, long now) throws Exception {
    removeBefore(earlyCancels, now);
    int kept = 0;
    for (Long ignored : earlyCancels.keys()) {
      kept++;
    }
    if (kept < MAX_EARLY_CANCELS) {
      earlyCancels.put(hash, expiry);
    }
  }

  /** Whether a turn was cancelled before it came; the cancel is used up. */
  boolean takeEarlyCancel(long hash, long now) throws Exception {
    Long expiry = earlyCancels.get(hash);
    if (expiry == null) {
      return false;
    }
    earlyCancels.remove(hash);
    return expiry > now;
  }

  /** Forgets cancels that expired before {@code now}. */
  void prune(long now) throws Exception {
    removeBefore(earlyCancels, now);
  }

  private static void removeBefore(MapState<Long, Long> times, long time) throws Exception {
    Iterator<Map.Entry<Long, Long>> entries = times.iterator();
    while (entries.hasNext()) {
      if (entries.next().getValue() <= time) {
        entries.remove();
      }
    }
  }

  void clearEarlyCancels() {
    earlyCancels.clear();
  }

  /** Forgets everything of a session without pending turns. */
  void clear() {
    slot.clear();
    turnIds.clear();
    earlyCancels.clear();
  }
}
