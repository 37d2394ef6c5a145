package io.radixflow.operators.engine;

/**
 * What the engine keeps of sessions, at the moment.
 *
 * @param hot sessions with a turn that runs
 * @param known sessions that the cache remembers, whether or not a turn runs
 * @param pages partial last pages that sessions keep for their next turn
 */
public record SessionStats(int hot, int known, int pages) {
  /** No sessions. */
  public static final SessionStats NONE = new SessionStats(0, 0, 0);
}
