package io.radixflow.text.regex;

import java.util.List;

/**
 * Makes the parts of an expression while {@link RegexParser} reads it, innermost parts first.
 *
 * @param <T> a part
 */
public interface RegexBuilder<T> {

  /** How many repetitions of a part are tried first, and whether others are tried at all. */
  enum Greed {
    /** As many as possible, then fewer. */
    GREEDY,
    /** As few as possible, then more. */
    LAZY,
    /** As many as possible. */
    POSSESSIVE
  }

  /** One code point of a set. */
  T one(CodePoints set);

  /** A text of at least two code points. */
  T text(String text);

  /** Parts that follow each other; without parts, it matches the empty text. */
  T sequence(List<T> parts);

  /** Any of the parts; there is at least one part. */
  T either(List<T> parts);

  /**
   * @param max the most repetitions; {@link RegexParser#MANY} if there is no bound
   */
  T repeat(T part, int min, int max, Greed greed);

  /** A group whose first match is its only one. */
  T atomic(T part);

  T end();

  /** A position after a code point of a set, and at the start of the text if {@code start}. */
  T behind(CodePoints set, boolean start);

  /** A position before a part, or before anything else if {@code negated}. */
  T ahead(T part, boolean negated);

  /**
   * A position after a part, or after anything else if {@code negated}.
   *
   * @return null if this is not supported for the part
   */
  T lookBehind(T part, boolean negated);
}
