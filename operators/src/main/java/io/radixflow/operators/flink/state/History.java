package io.radixflow.operators.flink.state;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.runtime.state.KeyedStateBackend;

/**
 * Owns the system prompt, the finished turns of a session and its branches; every call acts on the
 * current key.
 *
 * <p>Turns are a tree of immutable entries and a branch is the number of its last turn, so that
 * appending writes one turn, forking writes one number, and nothing is copied or rewritten. Turns
 * of recent sessions are also held in memory; without that, a prompt would read each turn of its
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

  /** Keeps the session's system prompt. */
  public void begin(String system) throws Exception {
    put(Turn.root(system));
  }

  private void put(Turn turn) throws Exception {
    turns.put(turn.id(), turn);
    recent.add(backend.getCurrentKey(), turn);
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

  /** The system prompt, or null. */
  String system(SessionSlot slot) throws Exception {
    Turn root = slot.prompted() ? turn(Turn.ROOT) : null;
    return root == null ? null : root.messages().get(0).content();
  }

  /** Returns whether there is a branch; there is always a main one. */
  public boolean hasBranch(String branch) throws Exception {
    return branch.equals(ConversationEvent.MAIN_BRANCH) || heads.contains(branch);
  }

  /** Returns the number of the last turn of each branch that has been made; a copy, by name. */
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
   * Returns the number of the turn that was answered under an id, or null if none is kept. An id
   * whose reply was made again, and is kept by no branch, stands for the latest reply.
   */
  public Long find(String id) throws Exception {
    return numbers.get(id);
  }

  /** Returns the number of branches besides the main one. */
  public int forks() throws Exception {
    int count = 0;
    for (String branch : heads.keys()) {
      count += branch.equals(ConversationEvent.MAIN_BRANCH) ? 0 : 1;
    }
    return count;
  }

  /** The branch's turns that are kept, oldest first. */
  public List<Turn> path(String branch) throws Exception {
    Long head = heads.get(branch);
    return head == null ? List.of() : pathTo(head);
  }

  /** The turns of each branch that are kept. */
  public List<List<Turn>> paths() throws Exception {
    List<List<Turn>> paths = new ArrayList<>();
    for (Long head : heads.values()) {
      paths.add(pathTo(head));
    }
    return paths;
  }

  /** The turns up to and including {@code last} that are kept, oldest first. */
  private List<Turn> pathTo(long last) throws Exception {
    List<Turn> path = new ArrayList<>();
    Turn turn = last == Turn.ROOT ? null : turn(last);
    while (turn != null) {
      path.add(turn);
      turn = turn.parent() == Turn.ROOT ? null : turn(turn.parent());
    }
    Collections.reverse(path);
    return path;
  }

  /** Ends a branch with a turn whose parent is on it; what hung on the parent there goes. */
  public void append(String branch, Turn turn) throws Exception {
    Long head = heads.get(branch);
    boolean grows = turn.parent() == (head == null ? Turn.ROOT : head);
    Turn parent = turn.parent() == Turn.ROOT ? null : turn(turn.parent());
    put(turn);
    heads.put(branch, turn.id());
    numbers.put(turn.answeredBy(), turn.id());
    if (!grows || turn.dropped() > (parent == null ? 0 : parent.dropped())) {
      sweep();
    }
    if (!turn.turn().equals(turn.answeredBy()) && !numbers.contains(turn.turn())) {
      numbers.put(turn.turn(), turn.id());
    }
  }

  /** Makes a branch that ends with a turn. */
  public void fork(String branch, long head) throws Exception {
    heads.put(branch, head);
  }

  /** Removes branches, and the turns that only they have. */
  public void drop(Collection<String> branches) throws Exception {
    for (String branch : branches) {
      heads.remove(branch);
    }
    sweep();
  }

  /** Forgets turns that no branch's next prompt can need. */
  private void sweep() throws Exception {
    Set<Long> needed = new HashSet<>();
    needed.add(Turn.ROOT);
    for (Long head : heads.values()) {
      List<Turn> path = pathTo(head);
      int dropped = Conversation.of(null, path).dropped();
      path.stream().filter(turn -> turn.depth() >= dropped).map(Turn::id).forEach(needed::add);
    }
    recent.remove(backend.getCurrentKey());
    Iterator<Map.Entry<Long, Turn>> entries = turns.iterator();
    while (entries.hasNext()) {
      if (!needed.contains(entries.next().getKey())) {
        entries.remove();
      }
    }
    Iterator<Map.Entry<String, Long>> ids = numbers.iterator();
    while (ids.hasNext()) {
      if (!needed.contains(ids.next().getValue())) {
        ids.remove();
      }
    }
  }

  void clear() {
    recent.remove(backend.getCurrentKey());
    heads.clear();
    turns.clear();
    numbers.clear();
  }
}
