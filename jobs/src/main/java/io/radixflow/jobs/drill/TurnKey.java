package io.radixflow.jobs.drill;

import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;
import io.radixflow.operators.session.ReplyDelta;

/** What names a turn: its id is unique within its session. */
record TurnKey(String session, String turn) {

  static TurnKey of(ConversationEvent event) {
    return new TurnKey(event.session(), event.turn());
  }

  static TurnKey of(Reply reply) {
    return new TurnKey(reply.session(), reply.turn());
  }

  static TurnKey of(ReplyDelta delta) {
    return new TurnKey(delta.session(), delta.turn());
  }

  @Override
  public String toString() {
    return session + "/" + turn;
  }
}
