package io.radixflow.gateway.api;

import io.radixflow.gateway.turn.TurnFound;
import io.radixflow.protocol.record.ConversationEvent;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The time when a repeatable request was first sent. The job keeps the time with the turn, so that
 * every response names the same time.
 */
public final class FirstSent {

  private static final String KEY = "radixflow.created";

  private FirstSent() {}

  /**
   * Returns the event with the time in its metadata.
   *
   * @param seconds since the epoch
   */
  public static ConversationEvent on(ConversationEvent event, long seconds) {
    return event.toBuilder().metadata(Map.of(KEY, Long.toString(seconds))).build();
  }

  /**
   * Returns the time that was stored with a turn; empty if another client of the topics sent the
   * turn.
   */
  public static OptionalLong of(TurnFound turn) {
    String kept = turn.metadata() == null ? null : turn.metadata().get(KEY);
    return kept == null || !kept.matches("[0-9]{1,15}")
        ? OptionalLong.empty()
        : OptionalLong.of(Long.parseLong(kept));
  }
}
