package io.radixflow.operators.engine;

/**
 * The window parts of an engine's KV pool, which hold what layers with an attention window keep of
 * pages, and what became of them since it was opened.
 *
 * @param window tokens that a query sees in these layers; 0 if the pool has no parts
 * @param total parts of the pool
 * @param free parts that no page has
 * @param locked parts that running requests need
 * @param taken parts taken from cached pages that no running request needed
 * @param shortenedMatches requests of whose cached prefix an end was not used, as parts were gone
 * @param lostTokens tokens of these ends, which were computed again
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
