package io.radixflow.lab.traffic;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;

/** Identifies a turn: its id is unique within its session. */
public record TrafficTurn(String session, String turn) {

  public static TrafficTurn of(ConversationEvent event) {
    return new TrafficTurn(event.session(), event.turn());
  }

  public static TrafficTurn of(Reply reply) {
    return new TrafficTurn(reply.session(), reply.turn());
  }

  public static TrafficTurn of(ReplyDelta delta) {
    return new TrafficTurn(delta.session(), delta.turn());
  }

  @Override
  public String toString() {
    return session + "/" + turn;
  }
}
