package io.radixflow.engine;

/**
 * Statistics of the window parts of an engine's KV pool since the engine was opened. Window parts
 * contain the entries of layers with an attention window.
 *
 * @param window tokens that a query sees in these layers; 0 if the pool has no parts
 * @param total parts of the pool
 * @param free parts that belong to no page
 * @param locked parts that running requests need
 * @param taken parts that were taken from cached pages because no running request needed them
 * @param shortenedMatches requests that could not use the end of their cached prefix, because parts
 *     were missing
 * @param lostTokens tokens of these ends; they were computed again
 */
public record WindowStats(
    int window,
    int total,
    int free,
    int locked,
    long taken,
    long shortenedMatches,
    long lostTokens) {
  /** A pool without window parts. */
  public static final WindowStats NONE = new WindowStats(0, 0, 0, 0, 0, 0, 0);
}
