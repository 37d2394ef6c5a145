package io.radixflow.kernels.grammar.regex;

/** The languages in which regular expressions are written. */
public enum RegexDialect {
  /** As Rust's regex crate has them: regular expressions of their own, and those in Lark. */
  RUST,

  /**
   * As ECMA-262 has them: the patterns of JSON Schema. They are read with the flag {@code u}; what
   * is not valid with it has the meaning of ECMA-262's Annex B.
   */
  ECMA
}
