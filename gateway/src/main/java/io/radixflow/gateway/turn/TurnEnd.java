package io.radixflow.gateway.turn;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.Reply.TurnState;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.operators.record.ReplyError;
import io.radixflow.operators.record.Usage;

/**
 * The end of a turn.
 *
 * @param branch the branch that the job chose
 * @param finishReason as in a reply: stop, length, cancelled, replaced, rejected, error
 * @param stopReason the stop text that ended the reply, or null
 * @param completed when the turn ended, milliseconds since the epoch
 * @param usage counts of tokens
 * @param error why the turn was rejected or failed; null if it was served
 * @param committed whether the reply is committed
 */
public record TurnEnd(
    String branch,
    String finishReason,
    String stopReason,
    long completed,
    Usage usage,
    ReplyError error,
    boolean committed) {

  static TurnEnd of(ReplyDelta last) {
    return new TurnEnd(
        last.branch(),
        last.finishReason(),
        last.stopReason(),
        last.completed(),
        last.usage(),
        last.error(),
        false);
  }

  static TurnEnd of(TurnState done, boolean committed) {
    return new TurnEnd(
        done.branch(),
        done.finishReason(),
        done.stopReason(),
        done.completed(),
        done.usage(),
        done.error(),
        committed);
  }

  static TurnEnd of(Reply reply) {
    return new TurnEnd(
        reply.branch(),
        reply.finishReason(),
        reply.stopReason(),
        reply.created(),
        reply.usage(),
        reply.error(),
        true);
  }
}
