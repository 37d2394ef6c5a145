package io.radixflow.grammar.regex;

import io.radixflow.text.regex.CodePoints;
import java.util.List;

/**
 * A parsed regular expression. A look-ahead or look-behind has a language only together with the
 * text next to it, which {@link RegexCompiler} adds.
 *
 * @param plain the language of a plain part
 * @param set the characters of a plain part that is one character; for {@code BEHIND}, the
 *     characters that may come before; null for none
 * @param negated for {@code AHEAD}, whether its part must not come next
 * @param start for {@code BEHIND}, whether it also holds at the start of the text
 */
record RegexTree(
    Kind kind,
    Regex plain,
    CodePoints set,
    boolean negated,
    boolean start,
    List<RegexTree> parts,
    int min,
    int max) {

  /** The kinds of tree. */
  enum Kind {
    PLAIN,
    /** Holds after some characters, or at the start of the text. */
    BEHIND,
    /** Holds before some text. */
    AHEAD,
    /** Holds at the end of the text. */
    END,
    /** The first part, then the second. */
    PAIR,
    EITHER,
    REPEAT
  }

  static RegexTree of(Kind kind, List<RegexTree> parts, int min, int max) {
    return new RegexTree(kind, null, null, false, false, parts, min, max);
  }

  static RegexTree plain(Regex regex, CodePoints set) {
    return new RegexTree(Kind.PLAIN, regex, set, false, false, List.of(), 0, 0);
  }

  boolean isPlain() {
    return kind == Kind.PLAIN;
  }
}
