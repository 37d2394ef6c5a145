package io.radixflow.operators.engine;

/**
 * Figures of what the engine keeps of sessions.
 *
 * @param hot sessions with a turn that runs
 * @param known sessions that the cache remembers, whether or not a turn runs
 * @param pages partial last pages that sessions keep for their next turn
 * @param pinnedPages pages that pins keep from eviction, those in several of them more than once
 * @param refusedPins prefixes that were not pinned for want of room
 * @param tokensAhead tokens computed so far for turns to come, while the engine was idle
 */
public record SessionStats(
    int hot, int known, int pages, int pinnedPages, long refusedPins, long tokensAhead) {
  /** No sessions. */
  public static final SessionStats NONE = new SessionStats(0, 0, 0, 0, 0, 0);
}
