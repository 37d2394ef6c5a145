package io.radixflow.gateway.turn;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TurnState;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import java.util.List;

/**
 * The end of a turn.
 *
 * @param branch the branch that the job chose
 * @param finishReason the finish reason of the reply: stop, length, cancelled, replaced, rejected
 *     or error
 * @param stopReason the stop text that ended the reply, or null
 * @param completed when the turn ended, milliseconds since the epoch
 * @param usage the token counts
 * @param error why the turn was rejected or failed; null if it succeeded
 * @param committed whether the reply is committed
 * @param earlier whether the turn had already ended, so that the end comes from the job's answer to
 *     a query
 * @param stopToken the stop token that ended the reply, or null
 * @param warnings constraints of the request that the reply may violate; empty for none
 * @param timing timing of the turn; null if unknown
 */
public record TurnEnd(
    String branch,
    String finishReason,
    String stopReason,
    long completed,
    Usage usage,
    ReplyError error,
    boolean committed,
    boolean earlier,
    Integer stopToken,
    List<String> warnings,
    TurnTiming timing) {

  public TurnEnd {
    warnings = warnings == null ? List.of() : warnings;
  }

  static TurnEnd of(ReplyDelta last) {
    return new TurnEnd(
        last.branch(),
        last.finishReason(),
        last.stopReason(),
        last.completed(),
        last.usage(),
        last.error(),
        false,
        false,
        last.stopToken(),
        last.warnings(),
        last.timing());
  }

  /** Returns the end of a turn that the job does not know. */
  static TurnEnd unknown(ReplyDelta answer) {
    return new TurnEnd(
        answer.branch(),
        answer.finishReason(),
        null,
        answer.completed(),
        answer.usage(),
        answer.error(),
        false,
        true,
        null,
        null,
        null);
  }

  /** Returns the end of a turn that has ended. */
  public static TurnEnd of(TurnState done, boolean committed) {
    return new TurnEnd(
        done.branch(),
        done.finishReason(),
        done.stopReason(),
        done.completed(),
        done.usage(),
        done.error(),
        committed,
        true,
        null,
        null,
        null);
  }

  /**
   * @param timing timing of the last delta; null if unknown
   */
  static TurnEnd of(Reply reply, TurnTiming timing) {
    return new TurnEnd(
        reply.branch(),
        reply.finishReason(),
        reply.stopReason(),
        reply.created(),
        reply.usage(),
        reply.error(),
        true,
        false,
        reply.stopToken(),
        reply.warnings(),
        timing);
  }

  /** Adds the warnings as a field {@code warnings}; adds nothing without warnings. */
  public void putWarnings(ObjectNode json) {
    if (!warnings.isEmpty()) {
      warnings.forEach(json.putArray("warnings")::add);
    }
  }

  /**
   * Returns whether the turn was rejected earlier for a reason that may have passed, so that its
   * request can succeed under another id. A turn of a session that was never opened also counts as
   * rejected.
   */
  public boolean isWorthAnotherTry() {
    ErrorCode code = error == null ? null : error.code();
    return earlier
        && finishReason.equals("rejected")
        && (code == ErrorCode.BUSY
            || code == ErrorCode.DRAINING
            || code == ErrorCode.UNKNOWN_SESSION);
  }
}
