package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.turn.end.SessionErasure;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.text.template.Message;
import java.util.List;

/**
 * Changes the branches of a session when turns start and end: forks, and the branches of turns that
 * waited for the turn before them. Only the task's thread uses it.
 */
public record BranchChanges(
    TurnQueues queues, HistoryMatcher matcher, SessionErasure erasure, int maxBranches) {
  /**
   * Carries out a turn that only changes the history: a fork, or messages without a reply. Returns
   * false for other turns.
   *
   * @throws RefusedException if the session has its limit of branches
   */
  boolean apply(SessionContext session, PendingTurn turn) throws Exception {
    switch (turn.kind()) {
      case FORK -> fork(session, turn);
      case APPEND -> session.history().append(turn.branch(), TurnPlanner.appended(session, turn));
      default -> {
        return false;
      }
    }
    return true;
  }

  private void fork(SessionContext session, PendingTurn turn) throws Exception {
    if (session.history().forks() + 1 >= maxBranches) {
      throw new RefusedException("the session has its limit of %d branches".formatted(maxBranches));
    }
    session.history().fork(turn.newBranch(), TurnPlanner.forkedAt(session, turn));
  }

  /** Adds a root; returns its number. */
  public static long begin(SessionContext session, List<Message> root) throws Exception {
    long number = session.nextNumber();
    session.history().begin(number, root.isEmpty() ? null : root.get(0).content());
    return number;
  }

  /**
   * Makes the branches that waited for a turn. The turn has ended and left the queues. Also decides
   * the parent of waiting turns that may follow it.
   *
   * @param own the branch of the turn
   */
  void ended(SessionContext session, String own, long turn) throws Exception {
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      TurnQueues.Entry first = branch.turns.peek();
      if (first.after() != turn || session.history().hasBranch(branch.name)) {
        continue;
      }
      PendingTurn waiting = session.pending(first.id());
      if (waiting.whole()) {
        PendingTurn decided = decided(session, waiting);
        session.addPending(decided);
        queues.replaceFirst(branch, TurnQueues.Entry.of(decided));
      } else if (session.history().has(turn)) {
        session.history().fork(branch.name, turn);
      }
    }
    if (!queues.has(session.id(), own) && session.history().endsHidden(own)) {
      erasure.removed(session, () -> session.history().trim(own));
    }
  }

  private PendingTurn decided(SessionContext session, PendingTurn waiting) throws Exception {
    List<Message> all = waiting.messages();
    HistoryMatcher.Match match = matcher.match(session, all);
    if (match.awaited() != HistoryMatcher.Match.NONE) {
      return waiting.waitingFor(match.awaited());
    }
    long after =
        match.turn() == null ? begin(session, all.subList(0, match.messages())) : match.turn();
    session.history().fork(waiting.branch(), after);
    return waiting.following(after, List.copyOf(all.subList(match.messages(), all.size())));
  }

  /**
   * Checks that the branch of a turn exists, and that the turn follows the turn that it was
   * accepted to follow.
   *
   * @throws RefusedException if the turn before it ended without a reply that is kept
   */
  void check(SessionContext session, PendingTurn turn) throws Exception {
    if (turn.after() != PendingTurn.LATEST
        && !session.history().endsWith(turn.branch(), turn.after())) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN, "the turn that it follows has no reply to continue");
    }
    if (!session.history().hasBranch(turn.branch())) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_BRANCH, "there is no branch '" + turn.branch() + "'");
    }
  }
}
