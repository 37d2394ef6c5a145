package io.radixflow.engine;

/**
 * Statistics of sessions in the engine.
 *
 * @param hot sessions with a running turn
 * @param known sessions that the cache remembers, whether or not a turn runs
 * @param pages partial last pages that sessions keep for their next turn
 * @param pinnedPages pages that pins protect from eviction; a page counts once per pin
 * @param refusedPins prefixes that were not pinned for lack of room
 * @param tokensAhead tokens computed so far for later turns, while the engine was idle
 */
public record SessionStats(
    int hot, int known, int pages, int pinnedPages, long refusedPins, long tokensAhead) {
  public static final SessionStats NONE = new SessionStats(0, 0, 0, 0, 0, 0);
}
