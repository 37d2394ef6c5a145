package io.radixflow.lab.traffic;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/** Identifies a turn: its id is unique within its session. */
public record TurnKey(String session, String turn) {

  public static TurnKey of(ConversationEvent event) {
    return new TurnKey(event.session(), event.turn());
  }

  public static TurnKey of(Reply reply) {
    return new TurnKey(reply.session(), reply.turn());
  }

  public static TurnKey of(ReplyDelta delta) {
    return new TurnKey(delta.session(), delta.turn());
  }

  @Override
  public String toString() {
    return session + "/" + turn;
  }
}
