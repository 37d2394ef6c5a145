package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.flink.turn.end.EndedTurns;
import io.radixflow.operators.flink.turn.end.SessionHistoryWriter;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Ends turns. One mail writes the output and the history and removes the turn from the pending
 * turns, so all three are part of the same checkpoint. Only the task's thread uses it.
 */
public record TurnEnds(
    TurnQueues queues, BranchChanges branches, SessionHistoryWriter writer, ReplyOutput output) {
  /**
   * Ends a turn that the engine worked on, now or before a restore.
   *
   * @param remember whether its shown text becomes part of the history
   * @param ran whether this engine worked on the turn
   */
  void end(
      SessionContext session,
      RunningTurn turn,
      FinishReason reason,
      ReplyError error,
      boolean remember,
      boolean ran)
      throws Exception {
    turn.branch.running = null;
    output.end(session, turn, reason, error);
    writer.ended(session, turn, reason, error, remember, ran);
    removed(session, turn.branch, TurnQueues.Entry.of(turn.pending()));
  }

  /** Ends a turn that no engine worked on. */
  void endUnstarted(
      SessionContext session,
      TurnQueues.Branch branch,
      TurnQueues.Entry turn,
      FinishReason reason,
      ReplyError error)
      throws Exception {
    List<TurnProgress> gained = session.progress(turn.id());
    String shown = gained.stream().map(TurnProgress::text).collect(Collectors.joining());
    output.end(session, turn, reason, shown, error);
    if (reason != FinishReason.STOP && turn.kind() != EventKind.FORK && turn.turn() != null) {
      session.addEndedTurn(
          EndedTurns.ended(
              session.pending(turn.id()), output.now(), shown, reason, Usage.NONE, error));
    }
    session.removePending(turn.id(), !gained.isEmpty());
    removed(session, branch, turn);
  }

  private void removed(SessionContext session, TurnQueues.Branch branch, TurnQueues.Entry turn)
      throws Exception {
    queues.remove(branch, turn);
    branches.ended(session, branch.name, turn.id());
  }

  /**
   * Erases the pages that the engine computed for a turn after the turn had ended here.
   *
   * @param known how many of its tokens were known before
   */
  void computedMore(SessionStore sessions, RunningTurn turn, int known) throws Exception {
    if (writer.hasMorePages(turn, known)) {
      writer.computedMore(sessions.load(turn.branch.session.id), turn);
    }
  }
}
