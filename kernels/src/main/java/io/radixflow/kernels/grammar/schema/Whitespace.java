package io.radixflow.kernels.grammar.schema;

/** Where JSON that follows a schema may have whitespace. */
public enum Whitespace {
  /** No whitespace between tokens. */
  COMPACT,
  /** As {@link #ANY}, but at most 32 characters: a model may otherwise go on with them for ever. */
  SHORT,
  /**
   * Any number of spaces, tabs, carriage returns and line feeds between tokens, but none before the
   * first and none after the last.
   */
  ANY
}
