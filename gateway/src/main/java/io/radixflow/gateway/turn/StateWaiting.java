package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.function.Consumer;

/**
 * Waits for the job's state of a followed turn. If the answer is committed, then a reply that ended
 * before it is also committed.
 *
 * @param key the key of the query
 * @param over called when the wait is over
 */
record StateWaiting(TurnKey key, TurnFollower follower, Consumer<TurnWaiter> over)
    implements TurnWaiter {

  @Override
  public boolean needsReply() {
    return follower.needsReply();
  }

  @Override
  public void delta(ReplyDelta delta) {
    if (delta.finishReason() == null) {
      return;
    }
    if (!needsReply()) {
      over.accept(this);
    }
    if (delta.answer() != null && delta.answer().turnState() != null) {
      follower.state(delta.answer().turnState(), false);
    } else {
      follower.refused(delta);
    }
  }

  @Override
  public void reply(Reply reply) {
    over.accept(this);
    if (reply.turnState() != null) {
      follower.state(reply.turnState(), true);
    }
  }

  /** {@inheritDoc} The follower asks again. */
  @Override
  public void interrupted() {
    over.accept(this);
  }

  @Override
  public void fail(TurnException cause) {
    over.accept(this);
    follower.fail(cause);
  }
}
