package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.concurrent.CompletableFuture;

/**
 * Waits for the only delta of an event that generates nothing, or for the last delta of a turn
 * whose client has gone.
 *
 * @param answer completes with the delta; exceptionally if the delta can no longer come
 * @param left whether the client of the turn has gone
 */
record AnswerWaiting(TurnKey key, CompletableFuture<ReplyDelta> answer, boolean left)
    implements TurnWaiter {

  @Override
  public boolean needsReply() {
    return false;
  }

  @Override
  public void delta(ReplyDelta delta) {
    if (delta.finishReason() != null) {
      answer.complete(delta);
    }
  }

  @Override
  public void reply(Reply reply) {}

  @Override
  public void interrupted() {
    fail(new TurnException("the answer may have been missed: ask again", null));
  }

  @Override
  public void fail(TurnException cause) {
    answer.completeExceptionally(cause);
  }
}
