package io.radixflow.grammar.schema;

/** The whitespace in JSON that a schema constrains. */
public enum Whitespace {
  /** No whitespace between tokens. */
  COMPACT,
  /**
   * The same as {@link #ANY}, but at most 32 characters: a model may otherwise write whitespace
   * forever.
   */
  SHORT,
  /**
   * Any number of spaces, tabs, carriage returns and line feeds between tokens, but none before the
   * first and none after the last.
   */
  ANY
}
