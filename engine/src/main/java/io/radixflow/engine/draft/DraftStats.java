package io.radixflow.engine.draft;

/**
 * Drafts that steps have verified: counters since the engine was opened, and memory kept for
 * further drafts.
 *
 * @param drafted drafts
 * @param accepted drafts that were right; each saved its request a step
 * @param chunks times that a request had drafts in a step
 * @param historyBytes current memory for ended turns, which are the source of drafts for other
 *     turns
 */
public record DraftStats(long drafted, long accepted, long chunks, long historyBytes) {
  /** An engine without drafts. */
  public static final DraftStats NONE = new DraftStats(0, 0, 0, 0);
}
