package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;

/** Waits for records about a turn. The threads of the topics call it. */
interface TurnWaiter {

  TurnKey key();

  /** Returns whether the waiter also needs the committed reply. */
  boolean needsReply();

  void delta(ReplyDelta delta);

  void reply(Reply reply);

  /** Called when records may have been missed; the waiter must ask again. */
  void interrupted();

  /** Ends the wait, because the event could not be sent. */
  void fail(TurnException cause);
}
