package io.radixflow.operators.flink.turn.end;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnDetails;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.PartOrder;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/** Describes turns that have ended, for queries about them. */
public final class EndedTurns {
  private static final String DONE = "done";

  private EndedTurns() {}

  /**
   * Describes a turn of the history.
   *
   * @param id the id in the reply of the turn
   */
  public static Reply.TurnState done(SessionContext session, String id, Turn turn)
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
                turn.reply() == null ? FinishReason.STOP.wireName() : turn.finishReason(),
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
   * Describes the end of a turn that does not become part of the history. The messages are left
   * out.
   *
   * @param completed when it ended, milliseconds since the epoch
   */
  public static Reply.TurnState ended(
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
            reason.wireName(),
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
  public static Reply.TurnState unaccepted(
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
        reason.wireName(),
        null,
        Usage.NONE,
        error);
  }

  /** Returns the id in the reply of a turn of the history; empty for none. */
  public static String name(SessionContext session, long turn) throws Exception {
    String name = session.history().idOf(turn);
    return name == null ? "" : name;
  }
}
