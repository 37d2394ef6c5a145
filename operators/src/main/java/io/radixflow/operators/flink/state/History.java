package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnParent;
import io.radixflow.protocol.record.ConversationEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.runtime.state.KeyedStateBackend;

/**
 * Owns the system prompt, the finished turns of a session and its branches; every call acts on the
 * current key.
 *
 * <p>Turns are a tree of immutable entries, and a branch is the number of its last turn. So
 * appending writes one turn, forking writes one number, and nothing is copied or rewritten. Turns
 * of recent sessions are also kept in memory, so that a prompt does not read each turn of its
 * conversation from RocksDB.
 */
public final class History {
  /** Heap for turns of recent sessions: about 5,000 turns of 500 words. */
  private static final long RECENT_BYTES = 32L << 20;

  private final KeyedStateBackend<String> backend;
  private final MapState<String, Long> heads;
  private final MapState<Long, Turn> turns;
  private final MapState<String, Long> numbers;
  private final RecentTurns recent = new RecentTurns(RECENT_BYTES);

  History(KeyedStateStore store, KeyedStateBackend<String> backend) {
    this.backend = backend;
    this.heads = store.getMapState(SavedState.branches());
    this.turns = store.getMapState(SavedState.turns());
    this.numbers = store.getMapState(SavedState.turnNumbers());
  }

  /** Stores the session's system prompt. */
  public void begin(String system) throws Exception {
    begin(Turn.ROOT, system);
  }

  /**
   * Stores a root.
   *
   * @param system the system prompt of branches that begin with the root, or null
   */
  public void begin(long root, String system) throws Exception {
    put(Turn.root(root, system));
  }

  private void put(Turn turn) throws Exception {
    turns.put(turn.id(), turn);
    recent.add(backend.getCurrentKey(), turn);
    if (turn.hash() != null && !turn.hidden()) {
      numbers.put(SavedState.byHash(turn.hash()), turn.id());
    }
  }

  private Turn turn(long id) throws Exception {
    String session = backend.getCurrentKey();
    Turn turn = recent.get(session, id);
    if (turn == null) {
      turn = turns.get(id);
      if (turn != null) {
        recent.add(session, turn);
      }
    }
    return turn;
  }

  /** Returns the system prompt of the session, or null. */
  String system(SessionSlot slot) throws Exception {
    return system(slot, Turn.ROOT);
  }

  private String system(SessionSlot slot, long root) throws Exception {
    Turn begun = root == Turn.ROOT && !slot.prompted() ? null : turn(root);
    return begun == null ? null : begun.system();
  }

  /** Returns the turn or root at the end of a branch; null for the session's root. */
  private Turn last(long head) throws Exception {
    return head == Turn.ROOT ? null : turn(head);
  }

  Conversation conversation(SessionSlot slot, String branch) throws Exception {
    Long head = heads.get(branch);
    return conversation(slot, head == null ? Turn.ROOT : head);
  }

  private Conversation conversation(SessionSlot slot, long head) throws Exception {
    Turn last = last(head);
    String system = system(slot, last == null ? Turn.ROOT : last.root());
    return Conversation.of(system, pathTo(head));
  }

  List<Conversation> conversations(SessionSlot slot) throws Exception {
    List<Conversation> all = new ArrayList<>();
    for (Long head : heads.values()) {
      all.add(conversation(slot, head));
    }
    return all;
  }

  /** Returns the parent of the next turn of a branch. */
  TurnParent parent(SessionSlot slot, String branch) throws Exception {
    Long head = heads.get(branch);
    Turn last = head == null ? null : last(head);
    return last == null
        ? new TurnParent(Turn.ROOT, Turn.ROOT, rootHash(slot))
        : new TurnParent(last.id(), last.root(), last.hash());
  }

  TurnParent parent(SessionSlot slot, Turn turn) throws Exception {
    Turn before = last(turn.parent());
    String hash = before == null ? null : before.hash();
    return new TurnParent(
        turn.parent(), turn.root(), turn.parent() == Turn.ROOT ? rootHash(slot) : hash);
  }

  private String rootHash(SessionSlot slot) throws Exception {
    return slot.prompted() ? turn(Turn.ROOT).hash() : ConversationHash.EMPTY;
  }

  /** Returns whether a branch exists; the main branch always exists. */
  public boolean hasBranch(String branch) throws Exception {
    return branch.equals(ConversationEvent.MAIN_BRANCH) || heads.contains(branch);
  }

  /** Returns the number of the last turn of each existing branch by name; a copy. */
  public SortedMap<String, Long> heads() throws Exception {
    SortedMap<String, Long> copy = new TreeMap<>();
    for (Map.Entry<String, Long> head : heads.entries()) {
      copy.put(head.getKey(), head.getValue());
    }
    return copy;
  }

  /** Returns whether a turn is the last of a branch; {@link Turn#ROOT} stands for no turn. */
  public boolean endsWith(String branch, long turn) throws Exception {
    Long head = heads.get(branch);
    return head == null
        ? turn == Turn.ROOT && branch.equals(ConversationEvent.MAIN_BRANCH)
        : head == turn;
  }

  /** Returns whether a turn is kept; {@link Turn#ROOT} always is. */
  public boolean has(long turn) throws Exception {
    return turn == Turn.ROOT || turn(turn) != null;
  }

  /**
   * Returns the number of the turn that was answered under an id, or null if it is not kept. If the
   * reply was regenerated and no branch keeps the first one, this is the turn with the latest
   * reply.
   */
  public Long find(String id) throws Exception {
    return numbers.get(SavedState.byId(id));
  }

  /** Returns the number of a turn or root with which a conversation ends, by hash; null if none. */
  Long match(SessionSlot slot, String hash) throws Exception {
    return hash.equals(ConversationHash.EMPTY) && !slot.prompted()
        ? (Long) Turn.ROOT
        : numbers.get(SavedState.byHash(hash));
  }

  /**
   * Returns a test that is false for hashes with which {@link #match} finds no turn. For many
   * hashes, one read of all names of the session's turns is faster than a read per hash.
   *
   * @param most maximum number of names to read; if the session has more, the test is always true
   */
  Predicate<String> known(int most) throws Exception {
    Set<String> names = new HashSet<>();
    for (String name : numbers.keys()) {
      if (names.size() == most) {
        return hash -> true;
      }
      names.add(name);
    }
    return hash -> names.contains(SavedState.byHash(hash));
  }

  /** Returns the turn that {@link #find} finds, or null. */
  public Turn turn(String id) throws Exception {
    Long number = find(id);
    return number == null ? null : turn(number);
  }

  /** Returns the id under which a turn was answered, or null if it is not kept. */
  public String idOf(long number) throws Exception {
    Turn turn = number == Turn.ROOT ? null : turn(number);
    return turn == null ? null : turn.answeredBy();
  }

  /** Returns the number of the last turn of a branch, {@link Turn#ROOT} for none. */
  public long head(String branch) throws Exception {
    Long head = heads.get(branch);
    return head == null ? Turn.ROOT : head;
  }

  /** Returns the number of branches besides the main one. */
  public int forks() throws Exception {
    int count = 0;
    for (String branch : heads.keys()) {
      count += branch.equals(ConversationEvent.MAIN_BRANCH) ? 0 : 1;
    }
    return count;
  }

  /** Returns the kept turns of a branch, oldest first. */
  public List<Turn> path(String branch) throws Exception {
    Long head = heads.get(branch);
    return head == null ? List.of() : pathTo(head);
  }

  /** Returns the kept turns up to and including {@code last}, oldest first. */
  private List<Turn> pathTo(long last) throws Exception {
    List<Turn> path = new ArrayList<>();
    Turn turn = last(last);
    while (turn != null && !turn.isRoot()) {
      path.add(turn);
      turn = turn.parent() == turn.root() ? null : turn(turn.parent());
    }
    Collections.reverse(path);
    return path;
  }

  /** Appends a turn to its parent on a branch; later turns of the branch are removed. */
  public void append(String branch, Turn turn) throws Exception {
    Long head = heads.get(branch);
    boolean grows = turn.parent() == (head == null ? Turn.ROOT : head);
    Turn parent = turn.parent() == Turn.ROOT ? null : turn(turn.parent());
    put(turn);
    heads.put(branch, turn.id());
    numbers.put(SavedState.byId(turn.answeredBy()), turn.id());
    if (!grows || turn.dropped() > (parent == null ? 0 : parent.dropped())) {
      sweep();
    }
    if (!turn.turn().equals(turn.answeredBy()) && !numbers.contains(SavedState.byId(turn.turn()))) {
      numbers.put(SavedState.byId(turn.turn()), turn.id());
    }
  }

  /** Makes a branch that ends with a turn. */
  public void fork(String branch, long head) throws Exception {
    heads.put(branch, head);
  }

  /**
   * Hides a turn. Branches that end with the turn and have no running or waiting turns then end
   * with the turn before it. If no other branch has the turn, it is removed.
   */
  public void delete(long id, Collection<String> branches) throws Exception {
    Turn turn = turn(id);
    put(turn.asHidden());
    List<String> keys = List.of(SavedState.byId(turn.answeredBy()), SavedState.byId(turn.turn()));
    for (String key : keys) {
      removeNumber(key, id);
    }
    if (turn.hash() != null) {
      removeNumber(SavedState.byHash(turn.hash()), id);
    }
    for (String branch : branches) {
      heads.put(branch, shown(turn.asHidden()));
    }
    sweep();
  }

  private void removeNumber(String key, long id) throws Exception {
    Long number = numbers.get(key);
    if (number != null && number == id) {
      numbers.remove(key);
    }
  }

  /** Returns whether a branch ends with a turn that was deleted. */
  public boolean endsHidden(String branch) throws Exception {
    Long head = heads.get(branch);
    Turn last = head == null ? null : last(head);
    return last != null && last.hidden();
  }

  /** Makes a branch that ends with a deleted turn end with an earlier turn. */
  public void trim(String branch) throws Exception {
    heads.put(branch, shown(turn(heads.get(branch))));
    sweep();
  }

  /**
   * Returns the number of this turn, or of the last turn before it that is not hidden, or of the
   * root.
   */
  private long shown(Turn last) throws Exception {
    Turn turn = last.hidden() ? turn(last.parent()) : last;
    while (turn != null && turn.hidden()) {
      turn = turn(turn.parent());
    }
    return turn == null ? last.root() : turn.id();
  }

  /** Removes branches, and the turns that only they have. */
  public void drop(Collection<String> branches) throws Exception {
    for (String branch : branches) {
      heads.remove(branch);
    }
    sweep();
  }

  /** Removes turns that no later prompt can need. */
  private void sweep() throws Exception {
    Set<Long> needed = new HashSet<>();
    needed.add(Turn.ROOT);
    for (Long head : heads.values()) {
      Turn last = last(head);
      needed.add(last == null ? Turn.ROOT : last.root());
      List<Turn> path = pathTo(head);
      int dropped = Conversation.of(null, path).dropped();
      path.stream().filter(turn -> turn.depth() >= dropped).map(Turn::id).forEach(needed::add);
    }
    recent.remove(backend.getCurrentKey());
    Map<String, Long> hashes = new HashMap<>();
    Iterator<Map.Entry<Long, Turn>> entries = turns.iterator();
    while (entries.hasNext()) {
      Map.Entry<Long, Turn> entry = entries.next();
      if (!needed.contains(entry.getKey())) {
        entries.remove();
      } else if (entry.getValue().hash() != null && !entry.getValue().hidden()) {
        hashes.put(SavedState.byHash(entry.getValue().hash()), entry.getKey());
      }
    }
    Iterator<Map.Entry<String, Long>> found = numbers.iterator();
    while (found.hasNext()) {
      Map.Entry<String, Long> entry = found.next();
      if (needed.contains(entry.getValue())) {
        hashes.remove(entry.getKey());
      } else {
        found.remove();
      }
    }
    for (Map.Entry<String, Long> twin : hashes.entrySet()) {
      numbers.put(twin.getKey(), twin.getValue());
    }
  }

  void clear() {
    recent.remove(backend.getCurrentKey());
    heads.clear();
    turns.clear();
    numbers.clear();
  }
}
