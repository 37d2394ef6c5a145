package io.radixflow.gateway.turn;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/** Waits for what the job writes about a turn. The threads of the topics call it. */
interface Waiting {

  TurnKey key();

  /** Returns whether the committed reply is needed, too. */
  boolean needsReply();

  void delta(ReplyDelta delta);

  void reply(Reply reply);

  /** Takes that records may have been missed. */
  void interrupted();

  /** Ends the wait, as the event could not be sent. */
  void fail(TurnException cause);
}
