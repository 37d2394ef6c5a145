package io.radixflow.gateway.responses;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TurnState;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.function.Consumer;

/** Sends events that generate nothing, and continues with the job's answers. */
final class Asking {

  private final Turns turns;

  Asking(Turns turns) {
    this.turns = turns;
  }

  /** Begins an event for a session of the caller, with a new turn id. */
  static ConversationEvent.Builder event(Exchange exchange, EventKind kind, String session) {
    return ConversationEvent.builder(kind, session, ResponseIds.newTurn())
        .tenant(exchange.caller().tenant());
  }

  /**
   * Asks the job.
   *
   * @param then receives the answer, which may be a rejection, on the exchange's event loop; the
   *     client receives an exception of {@code then} as an error
   */
  void ask(Exchange exchange, ConversationEvent event, Consumer<ReplyDelta> then) {
    turns
        .ask(event)
        .whenComplete(
            (answer, failure) ->
                exchange
                    .executor()
                    .execute(
                        () -> {
                          if (failure != null) {
                            throw ApiException.unavailable("the job cannot be reached: try again");
                          }
                          then.accept(answer);
                        }));
  }

  /**
   * Asks for the state of a turn.
   *
   * @param then receives the state; null if the caller has no such turn
   */
  void turn(Exchange exchange, String session, String turn, Consumer<TurnState> then) {
    query(
        exchange,
        event(exchange, EventKind.QUERY, session).atTurn(turn),
        reply -> then.accept(reply == null ? null : reply.turnState()));
  }

  /**
   * Asks for the history of a branch.
   *
   * @param branch the branch; null for the main branch
   * @param then receives the reply with the history; null if the caller has no such session
   */
  void history(Exchange exchange, String session, String branch, Consumer<Reply> then) {
    query(exchange, event(exchange, EventKind.QUERY, session).branch(branch), then);
  }

  private void query(Exchange exchange, ConversationEvent.Builder query, Consumer<Reply> then) {
    ask(
        exchange,
        query.build(),
        answer -> {
          ResponseErrors.check(answer);
          then.accept(answer.answer());
        });
  }
}
