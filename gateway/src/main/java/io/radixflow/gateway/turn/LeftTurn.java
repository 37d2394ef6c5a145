package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.concurrent.CompletableFuture;

/**
 * Waits for the end of a turn whose client has gone.
 *
 * @param ended completes when the job has ended the turn, or when its end can no longer be observed
 */
record LeftTurn(TurnKey key, CompletableFuture<Void> ended) implements TurnWaiter {

  @Override
  public boolean needsReply() {
    return false;
  }

  @Override
  public void delta(ReplyDelta delta) {
    if (delta.finishReason() != null) {
      ended.complete(null);
    }
  }

  @Override
  public void reply(Reply reply) {}

  @Override
  public void interrupted() {
    ended.complete(null);
  }

  @Override
  public void fail(TurnException cause) {
    ended.complete(null);
  }
}
