package io.radixflow.grammar.regex;

import java.util.ArrayList;
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

  private static RegexTree of(Kind kind, List<RegexTree> parts, int min, int max) {
    return new RegexTree(kind, null, null, false, false, parts, min, max);
  }

  static RegexTree plain(Regex regex) {
    return new RegexTree(Kind.PLAIN, regex, null, false, false, List.of(), 0, 0);
  }

  static RegexTree one(RegexPool pool, CodePoints set) {
    return new RegexTree(Kind.PLAIN, pool.chars(set), set, false, false, List.of(), 0, 0);
  }

  static RegexTree end() {
    return of(Kind.END, List.of(), 0, 0);
  }

  static RegexTree behind(CodePoints set, boolean start) {
    return new RegexTree(Kind.BEHIND, null, set, false, start, List.of(), 0, 0);
  }

  static RegexTree ahead(RegexTree part, boolean negated) {
    return new RegexTree(Kind.AHEAD, null, null, negated, false, List.of(part), 0, 0);
  }

  /** Matches at word boundaries if {@code there}, and at all other positions if not. */
  static RegexTree boundary(RegexPool pool, CodePoints word, boolean there) {
    RegexTree inside = behind(word, false);
    RegexTree outside = behind(word.negate(), true);
    RegexTree next = one(pool, word);
    return either(
        pool,
        List.of(
            sequence(pool, List.of(inside, ahead(next, there))),
            sequence(pool, List.of(outside, ahead(next, !there)))));
  }

  boolean isPlain() {
    return kind == Kind.PLAIN;
  }

  static RegexTree sequence(RegexPool pool, List<RegexTree> parts) {
    RegexTree made = null;
    for (int i = parts.size() - 1; i >= 0; i--) {
      RegexTree part = parts.get(i);
      if (made == null) {
        made = part;
      } else if (part.isPlain() && made.isPlain()) {
        made = plain(pool.concat(part.plain, made.plain));
      } else if (part.isPlain() && made.kind == Kind.PAIR && made.parts.get(0).isPlain()) {
        RegexTree first = plain(pool.concat(part.plain, made.parts.get(0).plain));
        made = of(Kind.PAIR, List.of(first, made.parts.get(1)), 0, 0);
      } else {
        made = of(Kind.PAIR, List.of(part, made), 0, 0);
      }
    }
    return made == null ? plain(pool.epsilon) : made;
  }

  static RegexTree either(RegexPool pool, List<RegexTree> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    if (!parts.stream().allMatch(RegexTree::isPlain)) {
      return of(Kind.EITHER, parts, 0, 0);
    }
    List<Regex> plain = new ArrayList<>();
    CodePoints set = CodePoints.NONE;
    for (RegexTree part : parts) {
      plain.add(part.plain);
      set = set == null || part.set == null ? null : set.or(part.set);
    }
    return new RegexTree(Kind.PLAIN, pool.or(plain), set, false, false, List.of(), 0, 0);
  }

  static RegexTree repeat(RegexPool pool, RegexTree part, int min, int max) {
    if (min == 1 && max == 1) {
      return part;
    }
    return part.isPlain()
        ? plain(pool.repeat(part.plain, min, max))
        : of(Kind.REPEAT, List.of(part), min, max);
  }

  /** A look-behind for {@code tree}; null if the tree does not match exactly one character. */
  static RegexTree lookBehind(RegexTree tree, boolean negated) {
    CodePoints set = tree.kind == Kind.BEHIND || tree.isPlain() ? tree.set : null;
    boolean start = tree.kind == Kind.BEHIND && tree.start;
    if (tree.kind == Kind.EITHER) {
      set = CodePoints.NONE;
      for (RegexTree part : tree.parts) {
        boolean known = part.kind == Kind.BEHIND || part.isPlain();
        set = set == null || !known || part.set == null ? null : set.or(part.set);
        start |= part.kind == Kind.BEHIND && part.start;
      }
    }
    return set == null ? null : negated ? behind(set.negate(), !start) : behind(set, start);
  }
}
