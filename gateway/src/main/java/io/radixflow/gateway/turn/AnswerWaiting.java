package io.radixflow.gateway.turn;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import java.util.concurrent.CompletableFuture;

/** Waits for the one delta of an event that generates nothing. */
record AnswerWaiting(TurnKey key, CompletableFuture<ReplyDelta> answer) implements Waiting {

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
