package io.radixflow.grammar.regex;

import java.util.Arrays;

/**
 * A regular language over bytes: an interned node of a {@link RegexPool}, so that equal nodes are
 * the same object. A node is also a state of the lazily derived automaton of its language.
 */
public final class Regex {
  /** No upper bound of a repetition. */
  public static final int MANY = Integer.MAX_VALUE;

  /** The kinds of node. */
  enum Kind {
    /** No text. */
    EMPTY,
    /** The empty text. */
    EPSILON,
    /** One byte by {@link #edges}, then what the edge leads to; or the empty text, if nullable. */
    LEAF,
    CONCAT,
    OR,
    AND,
    NOT,
    /** The first part {@link #min} to {@link #max} times. */
    REPEAT,
    /** JSON spellings of the texts of the first part; {@link #min} counts bytes of an escape. */
    JSON,
    /**
     * Decimal digits, with a fraction of up to {@link #scale} digits, whose number is a multiple of
     * {@link #max}; {@link #min} is the remainder so far.
     */
    MULTIPLE,
    /**
     * The texts of {@link #body}, which may contain the loop itself; {@link #min} tells loops
     * apart.
     */
    LOOP
  }

  final Kind kind;
  final Regex[] parts;

  /** For a leaf, the first and the last byte of each of {@link #parts}. */
  final int[] edges;

  final int min;
  final int max;

  /** Digits of the fraction that may follow; its sign bit is set before the decimal point. */
  final int scale;

  public int id;
  public boolean nullable;

  /** Whether all matches are whole UTF-8 texts. */
  boolean aligned;

  int depth;
  public int weight;

  /** Work that a derivative may take, in parts of the expression; bounded. */
  public int cost;

  /** No match has fewer characters; {@link #MANY} if nothing matches. */
  int shortest;

  /** No match has more characters; {@link #MANY} if the length may be unbounded. */
  int longest;

  /**
   * If {@link #exact}, there is a match for each number of characters from here to {@link
   * #longest}.
   */
  int filled;

  /** Whether a match has {@link #shortest} characters. */
  boolean exact;

  /** Whether something matches by the form alone. */
  boolean surelyAlive;

  /** The groups whose every character matches; negative until it is computed. */
  long singles = -1;

  /** The text that is certain to be allowed next; computed on first use. */
  FreeRun free;

  /** For a loop, the expression of one round. */
  Regex body;

  /** Whether it contains a loop. */
  boolean looping;

  /** Whether anything matches: 0 not known yet, 1 yes, 2 no. */
  byte alive;

  /** Derivatives by byte class; each is computed on first use. */
  Regex[] row;

  private final int hash;

  Regex(Kind kind, Regex[] parts, int[] edges, int min, int max, int scale) {
    this.kind = kind;
    this.parts = parts;
    this.edges = edges;
    this.min = min;
    this.max = max;
    this.scale = scale;
    int sum = kind.ordinal() + 31 * (min + 31 * (max + 31 * scale));
    for (Regex part : parts) {
      sum = 31 * sum + part.id;
    }
    hash = 31 * sum + Arrays.hashCode(edges);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Regex that
        && kind == that.kind
        && min == that.min
        && max == that.max
        && scale == that.scale
        && nullable == that.nullable
        && sameParts(that)
        && Arrays.equals(edges, that.edges);
  }

  private boolean sameParts(Regex that) {
    if (parts.length != that.parts.length) {
      return false;
    }
    for (int i = 0; i < parts.length; i++) {
      if (parts[i] != that.parts[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
