package io.radixflow.operators.flink.turn;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnDetails;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.PartOrder;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.List;

/**
 * Describes a turn for queries, whether it waits, runs or has ended. The text of a running turn is
 * the text that its deltas have shown. A client that listens to the deltas before it asks can join
 * both by their offsets. Only the task's thread uses it.
 */
public final class TurnStates {
  private static final String QUEUED = "queued";
  private static final String RUNNING = "running";
  private static final String DONE = "done";

  private final TurnQueues queues;
  private final TurnRunner runner;

  public TurnStates(TurnQueues queues, TurnRunner runner) {
    this.queues = queues;
    this.runner = runner;
  }

  /**
   * Describes a turn of the current session.
   *
   * @param turn the id in the turn's reply
   * @throws RefusedException if the session has no such turn
   */
  Reply.TurnState of(SessionContext session, String turn) throws Exception {
    TurnQueues.Session turns = queues.session(session.id());
    List<TurnQueues.Branch> branches = turns == null ? List.of() : turns.branches();
    for (TurnQueues.Branch branch : branches) {
      for (TurnQueues.Entry entry : branch.turns) {
        if (entry.kind() != EventKind.FORK && turn.equals(entry.turn())) {
          return pending(session, branches, branch, entry);
        }
      }
    }
    Turn done = session.history().turn(turn);
    Reply.TurnState state = done == null ? session.endedTurn(turn) : done(session, turn, done);
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
    boolean runs = branch.running != null && branch.running.pending.id() == entry.id();
    RunningTurn run = runs ? branch.running : runner.paused(session, branch, entry);
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
    if (branch.running != null && branch.running.pending.id() == entry.id()) {
      return name(session, branch.running.plan.parent().turn());
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
      return name(session, entry.after());
    }
    String before = null;
    for (TurnQueues.Entry candidate : branch.turns) {
      if (candidate == entry) {
        return before == null ? name(session, session.history().head(entry.branch())) : before;
      }
      before = candidate.kind() == EventKind.FORK ? null : candidate.turn();
    }
    return null;
  }

  private static Reply.TurnState done(SessionContext session, String id, Turn turn)
      throws Exception {
    TurnDetails details = turn.details();
    Reply.TurnState state =
        new Reply.TurnState(
                id,
                DONE,
                details.branch(),
                name(session, turn.parent()),
                details.created(),
                details.completed(),
                details.metadata(),
                details.prefill() == null
                    ? turn.messages()
                    : with(turn.messages(), details.prefill()),
                "",
                null,
                turn.reply() == null
                    ? ReplyOutput.lowerCase(FinishReason.STOP)
                    : turn.finishReason(),
                details.stopReason(),
                details.usage(),
                null)
            .with(turn.options());
    if (turn.reply() == null) {
      return state;
    }
    return details.prefill() == null
        ? state.with(turn.reply(), details.order())
        : state.with(
            after(details.prefill(), turn.reply()),
            PartOrder.after(details.prefill(), details.order()));
  }

  private static List<Message> with(List<Message> messages, Message last) {
    List<Message> all = new ArrayList<>(messages);
    all.add(last);
    return all;
  }

  /** Returns the generated part of a reply whose beginning the sender wrote. */
  private static Message after(Message prefill, Message reply) {
    String thought = after(prefill.reasoning(), reply.reasoning());
    return new Message(
        reply.role(),
        after(prefill.content(), reply.content()),
        null,
        reply.toolCalls(),
        null,
        thought == null || thought.isEmpty() ? null : thought);
  }

  private static String after(String begun, String text) {
    return begun == null || text == null ? text : text.substring(begun.length());
  }

  /**
   * Describes the end of a turn that does not become part of the history, without its messages.
   *
   * @param completed when it ended, milliseconds since the epoch
   */
  static Reply.TurnState ended(
      PendingTurn turn,
      long completed,
      String text,
      FinishReason reason,
      Usage usage,
      ReplyError error) {
    return new Reply.TurnState(
            turn.turn(),
            DONE,
            turn.branch(),
            null,
            turn.accepted(),
            completed,
            turn.metadata(),
            List.of(),
            text,
            null,
            ReplyOutput.lowerCase(reason),
            null,
            usage,
            error)
        .with(turn.options());
  }

  /**
   * Describes the end of a turn that was never accepted.
   *
   * @param now milliseconds since the epoch
   */
  static Reply.TurnState unaccepted(
      ConversationEvent event, long now, FinishReason reason, ReplyError error) {
    return new Reply.TurnState(
        event.turn(),
        DONE,
        event.branch(),
        null,
        now,
        now,
        event.metadata(),
        List.of(),
        "",
        null,
        ReplyOutput.lowerCase(reason),
        null,
        Usage.NONE,
        error);
  }

  /** Returns the id in the reply of a turn of the history; empty for none. */
  private static String name(SessionContext session, long turn) throws Exception {
    String name = session.history().idOf(turn);
    return name == null ? "" : name;
  }
}
