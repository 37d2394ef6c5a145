package io.radixflow.cli.state;

import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.TierTokens;
import java.util.Locale;

/**
 * A session in a savepoint, in figures; a Flink POJO.
 *
 * @param session its id
 * @param tenant its owner, empty for none
 * @param life {@code open}, {@code closed}, {@code erased}, or {@code unopened} if only events that
 *     open nothing came
 * @param branches branches that have turns
 * @param turns finished turns that are kept, of all branches
 * @param tokens ids that are kept of them
 * @param characters of their messages and replies and of the system prompt
 * @param pending turns without a reply
 * @param turnIds turn ids that are known to have been used
 * @param lastEvent milliseconds since the epoch
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
