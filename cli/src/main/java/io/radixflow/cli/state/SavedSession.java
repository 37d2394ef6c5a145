package io.radixflow.cli.state;

import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.Locale;

/**
 * The figures of a session in a savepoint; a Flink POJO.
 *
 * @param session id of the session
 * @param tenant the owner; empty for none
 * @param life {@code open}, {@code closed}, {@code erased}, or {@code unopened} if no event has
 *     opened it
 * @param branches number of branches with turns
 * @param turns number of kept finished turns of all branches
 * @param tokens number of their kept ids
 * @param characters characters of their messages and replies and of the system prompt
 * @param pending number of turns without a reply
 * @param turnIds number of turn ids that are known to be used
 * @param lastEvent time of the last event, milliseconds since the epoch
 * @param pages the last known tiers of the pages of its last turn's branch; null if unknown
 */
public record SavedSession(
    String session,
    String tenant,
    String life,
    int branches,
    int turns,
    long tokens,
    long characters,
    int pending,
    int turnIds,
    long lastEvent,
    SessionPages pages) {
  /** Stands for a key that is not a session. */
  static final SavedSession NONE = new SavedSession(null, null, null, 0, 0, 0, 0, 0, 0, 0, null);

  /**
   * Returns the state of the session's slot, as far as a savepoint shows it: {@code hot} with turns
   * in flight, else {@code warm}, {@code cold} or {@code gone} by the last known places of its
   * pages. Returns the {@link #life} of a session that is not open.
   */
  public String state() {
    if (!life.equals("open")) {
      return life;
    }
    TierTokens tokens = pages == null ? TierTokens.NONE : pages.tokens();
    return tokens.state(pending > 0).name().toLowerCase(Locale.ROOT);
  }
}
