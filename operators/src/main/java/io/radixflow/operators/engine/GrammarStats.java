package io.radixflow.operators.engine;

/**
 * Counters of an engine's work on replies that are held to grammars, since it was opened.
 *
 * @param compiled grammars compiled
 * @param compileNanos the time that took
 * @param reused requests whose grammar was compiled already
 * @param masks masks made, one for each token of a reply that is held to a grammar
 * @param maskNanos the time that took
 */
public record GrammarStats(
    long compiled, long compileNanos, long reused, long masks, long maskNanos) {
  /** An engine that has held no reply to a grammar. */
  public static final GrammarStats NONE = new GrammarStats(0, 0, 0, 0, 0);
}
