package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.engine.TenantCounts;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.fair.Share;
import io.radixflow.protocol.fair.Shares;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Owns the order of turns without a reply: each branch has a queue, whose first turn may run. The
 * queues are in memory and are rebuilt from keyed state after a restore. They contain only what
 * ordering and cancelling need, not the contents of the turns. Only the task's thread uses them.
 */
public final class TurnQueues {

  /**
   * A turn as the queues know it.
   *
   * @param queue the branch that it waits in
   * @param length characters of its messages
   */
  public record Entry(
      long id, EventKind kind, String queue, String turn, long length, Before before) {
    public static Entry of(PendingTurn turn) {
      return new Entry(
          turn.id(),
          turn.kind(),
          turn.queue(),
          turn.turn(),
          lengthOf(turn.messages()),
          new Before(turn.branch(), turn.atTurn(), turn.after()));
    }

    /** Returns the branch of the turn; for a fork, the branch that it forks from. */
    public String branch() {
      return before.branch();
    }

    /** See {@link PendingTurn#after}. */
    public long after() {
      return before.after();
    }
  }

  /** The turn and branch that come before a turn; see {@link PendingTurn}. */
  public record Before(String branch, String atTurn, long after) {}

  /** Returns the number of characters of messages. */
  static long lengthOf(List<Message> messages) {
    return messages.stream().mapToLong(Message::length).sum();
  }

  /** The turns of one branch; the first runs or may run. */
  public static final class Branch {
    final Session session;
    public final String name;
    public final Deque<Entry> turns = new ArrayDeque<>();
    RunningTurn running;
    private boolean ready;

    private Branch(Session session, String name) {
      this.session = session;
      this.name = name;
    }
  }

  /** The branches of one session that have turns. */
  public static final class Session {
    final String id;
    final String tenant;
    private final Map<String, Branch> branches = new LinkedHashMap<>();

    /** Branches that may be ready. */
    private final Deque<Branch> ready = new ArrayDeque<>();

    private int size;
    private long length;

    private Session(String id, String tenant) {
      this.id = id;
      this.tenant = tenant;
    }
  }

  /**
   * A tenant's sessions with branches that may be ready; the session whose turn is next comes
   * first.
   */
  private static final class Lane extends Share {
    final Deque<Session> sessions = new ArrayDeque<>();

    Lane(String name, int weight) {
      super(name, weight);
    }
  }

  /** The cost of a turn for its tenant; much larger than the weights. */
  private static final long TURN = 1 << 20;

  private final TenantCounts.Share counts;
  private final Map<String, Session> sessions = new HashMap<>();

  /** The tenants; a tenant waits if its lane has sessions. */
  private final Shares<Lane> ready;

  /**
   * @param counts share of the TaskManager's turns
   * @param weights of tenants; a tenant that is not named has weight 1
   */
  public TurnQueues(TenantCounts.Share counts, Map<String, Integer> weights) {
    this.counts = counts;
    this.ready = new Shares<>(weights, Lane::new);
  }

  /** Returns the number of sessions with turns. */
  int sessions() {
    return sessions.size();
  }

  public int size() {
    return counts.count();
  }

  public int sizeOfSession(String session) {
    Session queues = sessions.get(session);
    return queues == null ? 0 : queues.size;
  }

  /** Returns the number of characters of the messages of a session's turns. */
  public long lengthOfSession(String session) {
    Session queues = sessions.get(session);
    return queues == null ? 0 : queues.length;
  }

  /** Returns whether a session has turns that run or wait. */
  public boolean isBusy(String session) {
    return sessions.containsKey(session);
  }

  /** Returns a branch with turns that run or wait; null if it has none. */
  public Branch branch(String session, String name) {
    Session queues = sessions.get(session);
    return queues == null ? null : queues.branches.get(name);
  }

  /** Returns the branches of a session that have turns; a copy, so that turns may end meanwhile. */
  public List<Branch> branches(String session) {
    Session queues = sessions.get(session);
    return queues == null ? List.of() : List.copyOf(queues.branches.values());
  }

  /** Returns whether a branch has turns that run or wait. */
  public boolean has(String session, String branch) {
    return branch(session, branch) != null;
  }

  /**
   * Admits a turn. The caller then adds or dismisses it.
   *
   * @param freed how many of the tenant's turns are about to be removed
   * @return null if the turn is admitted, else the limit that is reached
   */
  public TenantCounts.Full admit(
      String session, String tenant, int freed, int tenantLimit, int limit) {
    return counts.tryAdd(owner(session, tenant), freed, tenantLimit, limit);
  }

  /** Dismisses an admitted turn that is not added. */
  public void dismiss(String session, String tenant) {
    counts.remove(owner(session, tenant));
  }

  /** Returns the owner of a session. A session may get its owner while its turns wait. */
  private String owner(String id, String tenant) {
    Session session = sessions.get(id);
    return session == null ? tenant : session.tenant;
  }

  /** Adds a turn of the restored state. */
  public void restore(String session, String tenant, Entry turn) {
    counts.add(owner(session, tenant));
    add(session, tenant, turn);
  }

  /** Adds a turn that was admitted. */
  public void add(String sessionId, String tenant, Entry turn) {
    Session session = sessions.computeIfAbsent(sessionId, id -> new Session(id, tenant));
    Branch branch =
        session.branches.computeIfAbsent(turn.queue(), name -> new Branch(session, name));
    branch.turns.add(turn);
    session.size++;
    session.length += turn.length();
    markReady(branch);
  }

  /**
   * Returns the next branch whose first turn may start, or null. The caller starts or removes the
   * turn. Tenants take turns by weight, the sessions of a tenant take turns, and so do the branches
   * of a session. So a long queue delays only its own turns.
   */
  Branch pollReady() {
    while (!ready.backlogged().isEmpty()) {
      Lane lane = Collections.min(ready.backlogged());
      Branch branch = poll(lane);
      branch.ready = false;
      Entry first = branch.turns.peek();
      boolean may = first != null && branch.running == null && !waits(branch.session, first);
      if (may) {
        ready.begins(lane);
        ready.charge(lane, TURN);
      }
      if (lane.sessions.isEmpty()) {
        ready.endsToWait(lane);
        ready.retire(lane);
      }
      if (may) {
        return branch;
      }
    }
    return null;
  }

  private static Branch poll(Lane lane) {
    Session session = lane.sessions.remove();
    Branch branch = session.ready.remove();
    if (!session.ready.isEmpty()) {
      lane.sessions.add(session);
    }
    return branch;
  }

  /** Removes a turn that has its reply; the next turns become ready. */
  void remove(Branch branch, Entry turn) {
    if (!branch.turns.remove(turn)) {
      throw new IllegalStateException("turn " + turn.id() + " is not queued");
    }
    Session session = branch.session;
    session.size--;
    session.length -= turn.length();
    counts.remove(session.tenant);
    if (branch.turns.isEmpty()) {
      session.branches.remove(branch.name);
    }
    if (session.branches.isEmpty()) {
      sessions.remove(session.id);
    }
    markReady(branch);
    for (Branch other : session.branches.values()) {
      Entry first = other.turns.peek();
      if (first != null && (first.kind() == EventKind.FORK || first.after() == turn.id())) {
        markReady(other);
      }
    }
  }

  /** Replaces the first turn of a branch by its changed entry. */
  void replaceFirst(Branch branch, Entry changed) {
    Entry first = branch.turns.remove();
    branch.turns.addFirst(changed);
    branch.session.length += changed.length() - first.length();
    markReady(branch);
  }

  /** Returns a copy of the turns of a branch, in order. */
  public static List<Entry> turnsOf(Branch branch) {
    return new ArrayList<>(branch.turns);
  }

  private void markReady(Branch branch) {
    if (!branch.ready && branch.running == null && !branch.turns.isEmpty()) {
      branch.ready = true;
      Session session = branch.session;
      if (session.ready.isEmpty()) {
        Lane lane = ready.of(session.tenant);
        if (lane.sessions.isEmpty()) {
          ready.beginsToWait(lane);
        }
        lane.sessions.add(session);
      }
      session.ready.add(branch);
    }
  }

  /**
   * Returns whether a turn waits for another turn. A fork waits for the turn that it forks at, or
   * for all earlier turns of the branch. The first turn of a branch waits for the turn that it
   * follows on another branch.
   */
  private static boolean waits(Session session, Entry turn) {
    if (turn.after() > Turn.ROOT) {
      return session.branches.values().stream()
          .flatMap(branch -> branch.turns.stream())
          .anyMatch(other -> other.id() == turn.after());
    }
    Branch source = turn.kind() == EventKind.FORK ? session.branches.get(turn.branch()) : null;
    return source != null
        && source.turns.stream()
            .anyMatch(
                other ->
                    other.id() < turn.id()
                        && (turn.before().atTurn() == null
                            || turn.before().atTurn().equals(other.turn())));
  }
}
