package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.turn.end.EndedTurns;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Usage;
import java.util.List;

/**
 * Describes a turn for queries, whether it waits, runs or has ended. The text of a running turn is
 * the text that its deltas have shown. A client that listens to the deltas before it asks can join
 * both by their offsets. Only the task's thread uses it.
 */
public record TurnStates(TurnQueues queues, TurnStarter starter) {
  private static final String QUEUED = "queued";
  private static final String RUNNING = "running";

  /**
   * Describes a turn of the current session.
   *
   * @param turn the id in the turn's reply
   * @throws RefusedException if the session has no such turn
   */
  public Reply.TurnState of(SessionContext session, String turn) throws Exception {
    List<TurnQueues.Branch> branches = queues.branches(session.id());
    for (TurnQueues.Branch branch : branches) {
      for (TurnQueues.Entry entry : branch.turns) {
        if (entry.kind() != EventKind.FORK && turn.equals(entry.turn())) {
          return pending(session, branches, branch, entry);
        }
      }
    }
    Turn done = session.history().turn(turn);
    Reply.TurnState state =
        done == null ? session.endedTurn(turn) : EndedTurns.done(session, turn, done);
    if (state == null) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN, "there is no turn '" + turn + "' in the session");
    }
    return state;
  }

  private Reply.TurnState pending(
      SessionContext session,
      List<TurnQueues.Branch> branches,
      TurnQueues.Branch branch,
      TurnQueues.Entry entry)
      throws Exception {
    PendingTurn pending = session.pending(entry.id());
    String previous = pending.whole() ? null : previous(session, branches, branch, entry);
    boolean runs = branch.running != null && branch.running.pending().id() == entry.id();
    RunningTurn run = runs ? branch.running : starter.paused(session, branch, entry);
    return run == null
        ? pending(pending, QUEUED, previous, List.of(), null)
        : pending(
                pending,
                RUNNING,
                previous,
                run.shownLogprobs(),
                run.shownTokens() == 0 ? null : run.usage())
            .with(run.parts().message(), run.parts().order());
  }

  private static Reply.TurnState pending(
      PendingTurn turn,
      String status,
      String previous,
      List<Reply.TokenLogprob> logprobs,
      Usage usage) {
    return new Reply.TurnState(
            turn.turn(),
            status,
            turn.branch(),
            previous,
            turn.accepted(),
            0,
            turn.metadata(),
            turn.messages(),
            "",
            logprobs.isEmpty() ? null : logprobs,
            null,
            null,
            usage,
            null)
        .with(turn.options());
  }

  /** Returns the id of the turn that an unfinished turn follows; null if it is unknown. */
  private static String previous(
      SessionContext session,
      List<TurnQueues.Branch> branches,
      TurnQueues.Branch branch,
      TurnQueues.Entry entry)
      throws Exception {
    if (branch.running != null && branch.running.pending().id() == entry.id()) {
      return EndedTurns.name(session, branch.running.plan().parent().turn());
    }
    if (entry.kind() == EventKind.REGENERATE) {
      return null;
    }
    if (entry.after() != PendingTurn.LATEST) {
      for (TurnQueues.Branch other : branches) {
        for (TurnQueues.Entry candidate : other.turns) {
          if (candidate.id() == entry.after()) {
            return candidate.turn();
          }
        }
      }
      return EndedTurns.name(session, entry.after());
    }
    String before = null;
    for (TurnQueues.Entry candidate : branch.turns) {
      if (candidate == entry) {
        return before == null
            ? EndedTurns.name(session, session.history().head(entry.branch()))
            : before;
      }
      before = candidate.kind() == EventKind.FORK ? null : candidate.turn();
    }
    return null;
  }
}
