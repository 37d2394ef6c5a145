package io.radixflow.text.regex;

/** The languages in which regular expressions are written. */
public enum RegexDialect {
  /** The syntax of Rust's regex crate, for regular expressions in options and in Lark grammars. */
  RUST,

  /**
   * ECMA-262, for the patterns of JSON Schema. Patterns are read with the flag {@code u}. A pattern
   * that is not valid with this flag has the meaning of ECMA-262's Annex B.
   */
  ECMA,

  /** The syntax of Oniguruma for Ruby, as far as tokenizers use it. */
  ONIGURUMA
}
