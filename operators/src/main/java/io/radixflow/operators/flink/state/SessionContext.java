package io.radixflow.operators.flink.state;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnParent;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.SlotState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.flink.api.common.state.MapState;

/**
 * The state of one session during one unit of work, such as an event or the end of a turn. {@link
 * SessionStore#load} reads the slot, the work changes it in memory, and {@link #save} writes it
 * once. Everything else is read on demand and written immediately.
 *
 * <p>A method that takes a context expects that the session is the current key and does not change
 * the key, unless it says otherwise. {@link #enter} makes the session current again.
 */
public final class SessionContext {
  /** A session keeps at most this many ended turns that are not in its history. */
  private static final int MAX_ENDED_TURNS = 16;

  /** A session keeps at most this many cancels for turns that have not arrived. */
  private static final int MAX_EARLY_CANCELS = 64;

  private final SessionStore store;
  private final String id;
  private final Map<Long, PendingTurn> accepted = new HashMap<>();
  private SlotState counted;
  private SessionSlot saved;
  private SessionSlot slot;
  private boolean ended;
  private String hashedTenant;
  private String hashedTurn;
  private long turnHash;

  /**
   * @param slot as it was read; null if the session is unknown
   */
  SessionContext(SessionStore store, String id, SessionSlot slot) {
    this.store = store;
    this.id = id;
    this.saved = slot;
    this.slot = slot;
    this.counted = store.counts().state(id, slot);
  }

  public String id() {
    return id;
  }

  /** Makes the session the current key again. */
  public SessionContext enter() {
    store.select(id);
    return this;
  }

  /** Returns whether the state knew the session when it was loaded or last saved. */
  public boolean isKnown() {
    return saved != null;
  }

  /** Returns the slot with all changes; the slot of a new session if the session is unknown. */
  public SessionSlot slot() {
    return slot == null ? SessionSlot.NEW : slot;
  }

  /** Changes the slot in memory. */
  public void slot(SessionSlot changed) {
    slot = changed;
  }

  /** Returns the time in milliseconds since the epoch. */
  public long now() {
    return store.now();
  }

  /**
   * Called when the timer has fired. Returns whether the session is past its retention; if not,
   * sets the timer again.
   *
   * @param busy whether the session has turns without a reply
   */
  public boolean isExpired(boolean busy) {
    return store.timers().isExpired(slot().lastEvent(), busy);
  }

  /** Returns the finished turns of this session. */
  public History history() {
    return store.history;
  }

  /** Returns the session's system prompt, or null. */
  public String system() throws Exception {
    return store.history.system(slot());
  }

  public Conversation conversation(String branch) throws Exception {
    return store.history.conversation(slot(), branch);
  }

  public List<Conversation> conversations() throws Exception {
    return store.history.conversations(slot());
  }

  /** Returns the parent of the next turn of a branch. */
  public TurnParent parent(String branch) throws Exception {
    return store.history.parent(slot(), branch);
  }

  public TurnParent parent(Turn turn) throws Exception {
    return store.history.parent(slot(), turn);
  }

  /**
   * Returns the number of the turn or root at which the conversation has the hash {@code hash};
   * null if there is none.
   */
  public Long match(String hash) throws Exception {
    return store.history.match(slot(), hash);
  }

  /**
   * Returns a test that returns false only if {@link #match} would find no turn; the test ignores
   * the root.
   *
   * @param most maximum number of names to read, which are ids of turns and hashes of
   *     conversations; if there are more, the test is always true
   */
  public Predicate<String> known(int most) throws Exception {
    return store.history.known(most);
  }

  /** Returns a number for a turn or root. */
  public long nextNumber() {
    long number = slot().nextId();
    slot(slot().numbered());
    return number;
  }

  public void addPending(PendingTurn turn) throws Exception {
    accepted.put(turn.id(), turn);
    store.pending.put(turn.id(), turn);
  }

  public PendingTurn pending(long turn) throws Exception {
    PendingTurn known = accepted.get(turn);
    return known == null ? store.pending.get(turn) : known;
  }

  /** Returns all turns without a reply, in order. */
  public List<PendingTurn> pending() throws Exception {
    List<PendingTurn> turns = new ArrayList<>();
    store.pending.values().forEach(turns::add);
    turns.sort(Comparator.comparingLong(PendingTurn::id));
    return turns;
  }

  /**
   * Removes a turn. Called in the mail that emits its reply.
   *
   * @param hasProgress whether the state may have progress of the turn
   */
  public void removePending(long turn, boolean hasProgress) throws Exception {
    accepted.remove(turn);
    store.pending.remove(turn);
    if (hasProgress) {
      removeProgress(turn);
    }
  }

  /** Removes the saved progress of a turn. */
  public void removeProgress(long turn) throws Exception {
    store.progressOf(turn).clear();
  }

  /** Returns the saved progress of a turn, in order. */
  public List<TurnProgress> progress(long turn) throws Exception {
    List<TurnProgress> gained = new ArrayList<>();
    if (accepted.containsKey(turn)) {
      return gained; // the turn has not run yet
    }
    Iterable<TurnProgress> pieces = store.progressOf(turn).get();
    if (pieces != null) { // internal state, unlike user state, has no empty list
      pieces.forEach(gained::add);
    }
    return gained;
  }

  /**
   * Records the id of a turn. The same id of another tenant counts as a different id. So no tenant
   * can block the ids of another tenant before the session has an owner.
   *
   * @return false if the id was seen before
   */
  public boolean recordTurnId(String tenant, String turn) throws Exception {
    long hash = hash(tenant, turn);
    if (store.turnIds.contains(hash)) {
      return false;
    }
    store.turnIds.put(hash, now());
    return true;
  }

  /** Returns whether a turn id has been recorded. */
  public boolean hasSeenTurnId(String tenant, String turn) throws Exception {
    return store.turnIds.contains(hash(tenant, turn));
  }

  /**
   * Returns the hash of a turn id; caches the last one, because an event needs it several times.
   */
  private long hash(String tenant, String turn) {
    if (!turn.equals(hashedTurn) || !tenant.equals(hashedTenant)) {
      hashedTenant = tenant;
      hashedTurn = turn;
      turnHash = tenant.isEmpty() ? StableHash.of64(turn) : StableHash.of64(tenant, turn);
    }
    return turnHash;
  }

  /**
   * Stores a cancel for a turn of the same tenant that has not come yet.
   *
   * @param retention how long to keep it, in milliseconds
   */
  public void addEarlyCancel(String tenant, String turn, long retention) throws Exception {
    removeExpiredCancels();
    int kept = 0;
    for (Long ignored : store.earlyCancels.keys()) {
      kept++;
    }
    if (kept < MAX_EARLY_CANCELS) {
      store.earlyCancels.put(hash(tenant, turn), now() + retention);
    }
  }

  /** Removes the cancel that came before its turn; returns false if there is none. */
  public boolean takeEarlyCancel(String tenant, String turn) throws Exception {
    long hash = hash(tenant, turn);
    Long expiry = store.earlyCancels.get(hash);
    if (expiry == null) {
      return false;
    }
    store.earlyCancels.remove(hash);
    return expiry > now();
  }

  /** Stores the end of a turn that is not in the history, for queries about it. */
  public void addEndedTurn(Reply.TurnState turn) throws Exception {
    List<Reply.TurnState> kept = new ArrayList<>();
    store.endedTurns.values().forEach(kept::add);
    if (kept.size() >= MAX_ENDED_TURNS) {
      kept.sort(Comparator.comparingLong(Reply.TurnState::created));
      store.endedTurns.remove(kept.get(0).turn());
    }
    store.endedTurns.put(turn.turn(), turn);
  }

  /**
   * Removes the stored end of a turn that is not in the history; returns false if there is none.
   */
  public boolean removeEndedTurn(String turn) throws Exception {
    boolean known = store.endedTurns.contains(turn);
    if (known) {
      store.endedTurns.remove(turn);
    }
    return known;
  }

  /** Returns the stored end of a turn that is not in the history, or null. */
  public Reply.TurnState endedTurn(String turn) throws Exception {
    return store.endedTurns.get(turn);
  }

  /** Removes cancels whose turns did not come in time. */
  public void removeExpiredCancels() throws Exception {
    MapState<Long, Long> cancels = store.earlyCancels;
    Iterator<Map.Entry<Long, Long>> entries = cancels.iterator();
    while (entries.hasNext()) {
      if (entries.next().getValue() <= now()) {
        entries.remove();
      }
    }
  }

  /** Removes the conversation; the slot and the hashes of turn ids stay. */
  public void clearConversation() {
    store.history.clear();
    store.earlyCancels.clear();
    store.endedTurns.clear();
  }

  /** Removes all state of a session that has no turns. */
  public void clear() {
    clearConversation();
    store.turnIds.clear();
    slot = null;
    ended = true;
  }

  /** Writes the slot if it has changed. Makes the session the current key. */
  public void save() throws Exception {
    enter();
    if (ended) {
      store.clearSlot();
    } else if (slot != saved) {
      if (saved == null) {
        store.timers().start();
      }
      store.update(slot);
    }
    counted = store.counts().moved(id, counted, saved, slot);
    saved = slot;
  }
}
