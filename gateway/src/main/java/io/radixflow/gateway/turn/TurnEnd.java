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
 * @param finishReason the finish reason of the reply: stop, length, cancelled, replaced, rejected
 *     or error
 * @param stopReason the stop text that ended the reply, or null
 * @param stopToken the stop token that ended the reply, or null
 * @param completed when the turn ended, milliseconds since the epoch
 * @param usage the token counts
 * @param error why the turn was rejected or failed; null if it succeeded
 * @param earlier whether the turn had already ended, so that the end comes from the job's answer to
 *     a query
 * @param warnings constraints of the request that the reply may violate; empty for none
 * @param timing timing of the turn; null if unknown
 */
public record TurnEnd(
    String finishReason,
    String stopReason,
    Integer stopToken,
    long completed,
    Usage usage,
    ReplyError error,
    boolean earlier,
    List<String> warnings,
    TurnTiming timing) {

  public TurnEnd {
    warnings = warnings == null ? List.of() : warnings;
  }

  /**
   * @param earlier whether the delta is the answer to a query
   */
  static TurnEnd of(ReplyDelta last, boolean earlier) {
    return new TurnEnd(
        last.finishReason(),
        last.stopReason(),
        last.stopToken(),
        last.completed(),
        last.usage(),
        last.error(),
        earlier,
        last.warnings(),
        last.timing());
  }

  /** Returns the end of a turn that has ended. */
  public static TurnEnd of(TurnState done) {
    return new TurnEnd(
        done.finishReason(),
        done.stopReason(),
        null,
        done.completed(),
        done.usage(),
        done.error(),
        true,
        null,
        null);
  }

  /**
   * @param timing timing of the last delta; null if unknown
   */
  static TurnEnd of(Reply reply, TurnTiming timing) {
    return new TurnEnd(
        reply.finishReason(),
        reply.stopReason(),
        reply.stopToken(),
        reply.created(),
        reply.usage(),
        reply.error(),
        false,
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
