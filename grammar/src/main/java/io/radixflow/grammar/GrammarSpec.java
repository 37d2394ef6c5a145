package io.radixflow.grammar;

/**
 * The source of a {@link Grammar}. Equal sources give equal grammars, so a cache of compiled
 * grammars can use it as the key.
 *
 * @param kind the language of the text
 * @param text the grammar; for a schema, JSON
 * @param before a regular expression for the text before the part that the grammar describes; empty
 *     for no such text
 */
public record GrammarSpec(Kind kind, String text, String before) {

  /** The languages in which grammars are written. */
  public enum Kind {
    /** A JSON Schema; the documents may have short whitespace between tokens. */
    JSON_SCHEMA,
    REGEX,
    LARK,
    GBNF
  }

  public GrammarSpec(Kind kind, String text) {
    this(kind, text, "");
  }

  /** Returns this grammar, after text that a regular expression describes. */
  public GrammarSpec after(String regex) {
    return new GrammarSpec(kind, text, regex);
  }
}
