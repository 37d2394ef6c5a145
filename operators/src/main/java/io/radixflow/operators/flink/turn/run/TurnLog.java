package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.session.PendingTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Usage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line for each turn that has ended, without any text of the conversation. It has its own
 * logger, so that it can be switched off separately. Only the task's thread uses it.
 */
final class TurnLog {
  static final String NAME = "io.radixflow.turns";
  private static final Logger LOG = LoggerFactory.getLogger(NAME);

  private TurnLog() {}

  /**
   * Logs the end of a turn that the engine worked on.
   *
   * @param now milliseconds since the epoch
   */
  static void ended(RunningTurn turn, String finish, Usage usage, long now) {
    if (LOG.isInfoEnabled()) {
      TurnQueues.Session session = turn.branch.session;
      StringBuilder line =
          line(session.id, turn.pending().turn(), turn.pending().branch(), session.tenant, finish);
      line.append(" prompt_tokens=").append(usage.promptTokens());
      line.append(" cached_tokens=").append(usage.cachedTokens());
      line.append(" completion_tokens=").append(usage.completionTokens());
      millis(line, " queue_ms=", turn.queuedMillis());
      millis(line, " ttft_ms=", turn.firstTokenMillis);
      millis(line, " total_ms=", now - turn.pending().accepted());
      LOG.info(line.toString());
    }
  }

  /** Logs the end of a turn that waited until its end. */
  static void ended(String session, String tenant, PendingTurn turn, String finish, long now) {
    if (turn.kind() != EventKind.FORK && LOG.isInfoEnabled()) {
      StringBuilder line = line(session, turn.turn(), turn.branch(), tenant, finish);
      long waitedMillis = now - turn.accepted();
      millis(line, " queue_ms=", waitedMillis);
      millis(line, " total_ms=", waitedMillis);
      LOG.info(line.toString());
    }
  }

  /** Logs a turn that was not accepted. */
  static void ended(ConversationEvent event, String finish) {
    if (LOG.isInfoEnabled()) {
      LOG.info(
          line(event.session(), event.turn(), event.branch(), event.tenant(), finish).toString());
    }
  }

  private static StringBuilder line(
      String session, String turn, String branch, String tenant, String finish) {
    StringBuilder line = new StringBuilder(256);
    quoted(line, "session=", session);
    quoted(line, " turn=", turn);
    quoted(line, " branch=", branch);
    quoted(line, " tenant=", tenant);
    return line.append(" finish=").append(finish);
  }

  /** Appends a time; an unknown time is negative and is left out. */
  private static void millis(StringBuilder line, String name, long millis) {
    if (millis >= 0) {
      line.append(name).append(millis);
    }
  }

  /** Appends an id that the sender chose, quoted so that it stays one word on one line. */
  private static void quoted(StringBuilder line, String name, String id) {
    line.append(name).append('"');
    for (int i = 0; id != null && i < id.length(); i++) {
      char c = id.charAt(i);
      if (c == '"' || c == '\\') {
        line.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        line.append("\\u").append(Character.forDigit(c >> 12, 16));
        line.append(Character.forDigit(c >> 8 & 15, 16));
        line.append(Character.forDigit(c >> 4 & 15, 16)).append(Character.forDigit(c & 15, 16));
      } else {
        line.append(c);
      }
    }
    line.append('"');
  }
}
