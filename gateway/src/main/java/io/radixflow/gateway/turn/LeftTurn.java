package io.radixflow.gateway.turn;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import java.util.concurrent.CompletableFuture;

/**
 * Waits for the end of a turn whose client has gone.
 *
 * @param ended completes when the job has ended the turn, or when the end can no longer be known
 */
record LeftTurn(TurnKey key, CompletableFuture<Void> ended) implements Waiting {

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
