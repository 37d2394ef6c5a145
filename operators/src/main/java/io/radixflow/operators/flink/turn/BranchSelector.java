package io.radixflow.operators.flink.turn;

import io.radixflow.operators.flink.state.History;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.ErrorCode;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.session.BusyException;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.Turn;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Chooses the branch of a turn when it is accepted, and makes the branches of turns that follow
 * another than the latest. The choice is stored with the turn, and is the same after a failure.
 * Only the task's thread uses it.
 *
 * <p>A session has a bounded number of branches. A branch that this makes takes the room of those
 * that were used least recently; the main one, and those with turns that run or wait, stay.
 */
public final class BranchSelector {
  /** Of the limit, the share of branches that are dropped at once: each time reads the session. */
  private static final int DROPPED_SHARE = 8;

  private final TurnQueues queues;
  private final SessionErasure erasure;
  private final int maxBranches;

  public BranchSelector(
      TurnQueues queues, SessionErasure erasure, ServingOptions.Limits limits) {
    this.queues = queues;
    this.erasure = erasure;
    this.maxBranches = limits.maxBranches();
  }

  /**
   * What a turn becomes part of.
   *
   * @param branch the branch that takes it
   * @param after see {@link PendingTurn#after}
   * @param dropped branches that make room for this one; null if the branch is there
   */
  record Target(String branch, long after, List<String> dropped) {}

  /**
   * Chooses the branch of a turn, and changes nothing.
   *
   * @throws RefusedException if there is no such branch or turn
   */
  Target choose(ConversationEvent event, SessionContext session) throws Exception {
    String previous = event.previousTurn();
    if (previous == null) {
      requireBranch(session, event.branch());
      return new Target(event.branch(), PendingTurn.LATEST, null);
    }
    return following(session, number(session, previous), event.turn());
  }

  private void requireBranch(SessionContext session, String branch) throws Exception {
    if (!session.history().hasBranch(branch) && !queues.has(session.id(), branch)) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_BRANCH, "there is no branch '" + branch + "'");
    }
  }

  /** Returns the number of a turn by its id; turns that run or wait count. */
  private long number(SessionContext session, String turn) throws Exception {
    if (turn.isEmpty()) {
      return Turn.ROOT;
    }
    for (TurnQueues.Branch branch : branches(session)) {
      for (TurnQueues.Entry entry : branch.turns) {
        if (turn.equals(entry.turn()) && entry.kind() != EventKind.FORK) {
          return entry.id();
        }
      }
    }
    Long number = session.history().find(turn);
    if (number == null) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN, "there is no turn '" + turn + "' in the session");
    }
    return number;
  }

  /**
   * Returns the branch whose latest turn is this one, or a new one.
   *
   * @param name what a new branch is named after
   */
  private Target following(SessionContext session, long turn, String name) throws Exception {
    SortedMap<String, Long> heads = session.history().heads();
    String branch = branchAt(session, heads, turn);
    if (branch != null) {
      return new Target(branch, turn, null);
    }
    String made = name;
    while (session.history().hasBranch(made) || queues.has(session.id(), made)) {
      made += "'";
    }
    return new Target(made, turn, leastRecentlyUsed(session, heads));
  }

  /** Returns the branch whose latest turn, also of those that run or wait, is this one, or null. */
  private String branchAt(SessionContext session, SortedMap<String, Long> heads, long turn)
      throws Exception {
    for (TurnQueues.Branch branch : branches(session)) {
      TurnQueues.Entry last = branch.turns.peekLast();
      if (last.id() == turn && last.kind() != EventKind.FORK) {
        return branch.name;
      }
    }
    String main = ConversationEvent.MAIN_BRANCH;
    if (!queues.has(session.id(), main) && session.history().endsWith(main, turn)) {
      return main;
    }
    for (Map.Entry<String, Long> head : heads.entrySet()) {
      if (head.getValue() == turn && !queues.has(session.id(), head.getKey())) {
        return head.getKey();
      }
    }
    return null;
  }

  private List<TurnQueues.Branch> branches(SessionContext session) {
    TurnQueues.Session turns = queues.session(session.id());
    return turns == null ? List.of() : turns.branches();
  }

  /** Returns the branches that go when another is made: none while there is room. */
  private List<String> leastRecentlyUsed(SessionContext session, SortedMap<String, Long> heads)
      throws BusyException {
    Set<String> busy = new HashSet<>();
    busy.add(ConversationEvent.MAIN_BRANCH);
    for (TurnQueues.Branch branch : branches(session)) {
      branch.turns.forEach(turn -> busy.addAll(List.of(turn.queue(), turn.branch())));
    }
    Set<String> all = new HashSet<>(heads.keySet());
    all.addAll(busy);
    int excess = all.size() + 1 - maxBranches;
    if (excess <= 0) {
      return List.of();
    }
    List<String> idle =
        heads.keySet().stream()
            .filter(branch -> !busy.contains(branch))
            .sorted(Comparator.comparing(heads::get))
            .toList();
    if (idle.size() < excess) {
      throw new BusyException(
          "the session has its limit of %d branches, all in use".formatted(maxBranches));
    }
    int dropped = Math.max(excess, maxBranches / DROPPED_SHARE);
    return idle.subList(0, Math.min(dropped, idle.size()));
  }

  /**
   * Makes the branch of a turn that was admitted, if there is none and the turn before it has
   * ended. As the branch is there, it keeps what it was made of.
   */
  void make(SessionContext session, Target target) throws Exception {
    if (target.dropped() == null) {
      return;
    }
    History history = session.history();
    if (history.has(target.after())) {
      history.fork(target.branch(), target.after());
    }
    if (!target.dropped().isEmpty()) {
      erasure.removed(session, () -> history.drop(target.dropped()));
    }
  }

  /** Makes the branches that waited for a turn, which has ended, if it is part of the history. */
  void ended(SessionContext session, long turn) throws Exception {
    History history = session.history();
    for (TurnQueues.Branch branch : branches(session)) {
      if (branch.turns.peek().after() == turn
          && !history.hasBranch(branch.name)
          && history.has(turn)) {
        history.fork(branch.name, turn);
      }
    }
  }

  /**
   * Checks that a turn follows what it was accepted for.
   *
   * @throws RefusedException if the turn before it ended without a reply that is kept
   */
  void check(SessionContext session, PendingTurn turn) throws Exception {
    if (turn.after() != PendingTurn.LATEST
        && !session.history().endsWith(turn.branch(), turn.after())) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN, "the turn that it follows has no reply to continue");
    }
  }
}
