package io.radixflow.operators.engine.draft;

/**
 * Drafts that steps have verified; counters since the engine was opened.
 *
 * @param drafted drafts
 * @param accepted of these, those that were right, each of which has saved a step of its request
 * @param chunks times that a request had drafts in a step
 */
public record DraftStats(long drafted, long accepted, long chunks) {
  /** An engine without drafts. */
  public static final DraftStats NONE = new DraftStats(0, 0, 0);
}
