package io.radixflow.gateway.responses;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.ReplyDelta;
import java.util.function.Consumer;

/** Sends events for which nothing is generated, and goes on with what the job answers. */
final class Asking {

  private final Turns turns;

  Asking(Turns turns) {
    this.turns = turns;
  }

  /** Begins an event of a session of the caller, with a turn id of its own. */
  static ConversationEvent.Builder event(Exchange exchange, EventKind kind, String session) {
    return ConversationEvent.builder(kind, session, ResponseIds.newTurn())
        .tenant(exchange.caller().tenant());
  }

  /**
   * Asks the job.
   *
   * @param then takes the answer, which may be a rejection, on the exchange's event loop; what it
   *     throws is the client's error
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
}
