package io.radixflow.engine;

/**
 * Counters of an engine's work on grammars of replies, since the engine was opened.
 *
 * @param compiled compiled grammars
 * @param compileNanos time for compiling them
 * @param reused requests whose grammar was compiled already
 * @param masks computed masks, one per token of a reply with a grammar
 * @param maskNanos time for computing them
 */
public record GrammarStats(
    long compiled, long compileNanos, long reused, long masks, long maskNanos) {
  /** The counters of an engine that had no reply with a grammar. */
  public static final GrammarStats NONE = new GrammarStats(0, 0, 0, 0, 0);
}
