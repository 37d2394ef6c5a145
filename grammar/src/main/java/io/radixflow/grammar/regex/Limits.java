package io.radixflow.grammar.regex;

/** Limits on time and memory. They depend only on the grammar and the text, never on a clock. */
public final class Limits {
  /** Characters of a grammar's source. */
  public static final int SOURCE = 1 << 17;

  /** Nested objects and arrays of a schema. */
  public static final int JSON_DEPTH = 200;

  /** Nested groups of a rule. */
  public static final int GROUPS = 100;

  /** Nodes of regular expressions that a grammar's source may make. */
  static final int NODES = 100_000;

  /** Nodes that matching may add before they are dropped and derived again. */
  static final int DERIVED_NODES = 50_000;

  /** Parts of one regular expression; shared parts count each time. */
  static final int WEIGHT = 20_000;

  /** Levels of one regular expression. */
  static final int DEPTH = 1_500;

  /** Repetitions that a bound may ask for. */
  public static final int REPEAT = 1_000_000;

  /**
   * Work of a search for a match of an intersection, and of all searches while a grammar is
   * compiled, in derivatives and their parts.
   */
  static final int SEARCH = 500_000;

  /** Work of a whole compilation, in parts of expressions and of rules. */
  public static final int COMPILE_WORK = 5_000_000;

  /** Different sets of characters. */
  static final int CHARACTER_SETS = 2_000;

  public static final int RULES = 20_000;

  /** Symbols of all rules after their expansion. */
  public static final int SYMBOLS = 200_000;

  /** Rules of a grammar with left recursion, which is eliminated first. */
  public static final int LEFT_RECURSIVE_RULES = 1_000;

  /** Nested rules while a text is matched. */
  public static final int STACK = 1_000;

  /** Rule positions that one byte may lead to. */
  public static final int CLOSURE = 20_000;

  /** Open rules that are merged because one byte leads to the same position in several ways. */
  public static final int MERGES = 400_000;

  /** Work of finding the tokens that may come next, in parts of expressions and rule positions. */
  public static final int MASK_WORK = 4_000_000;

  /** Kept states; beyond this they are dropped and derived again. */
  public static final int STATES = 20_000;

  /** Token masks of states, and of expressions, that a grammar keeps for each vocabulary. */
  public static final int MASKS = 256;

  /**
   * Properties that all objects of a schema name together. The properties of each combination are
   * counted separately.
   */
  public static final int PROPERTIES = 5_000;

  /** Digits of a numeric bound. */
  public static final int DIGITS = 300;

  private Limits() {}
}
