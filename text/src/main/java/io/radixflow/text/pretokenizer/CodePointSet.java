package io.radixflow.text.pretokenizer;

import java.util.function.IntPredicate;

/** An immutable set of code points, as a bitmap of those below U+3000 and a rule for the rest. */
final class CodePointSet {

  private static final int MAPPED = 0x3000;

  private final long[] bits = new long[MAPPED / Long.SIZE];
  private final IntPredicate rule;

  private CodePointSet(IntPredicate rule) {
    this.rule = rule;
    for (int c = 0; c < MAPPED; c++) {
      if (rule.test(c)) {
        bits[c >> 6] |= 1L << c;
      }
    }
  }

  static CodePointSet of(IntPredicate rule) {
    return new CodePointSet(rule);
  }

  boolean contains(int codePoint) {
    return codePoint < MAPPED ? (bits[codePoint >> 6] >> codePoint & 1) != 0 : rule.test(codePoint);
  }

  /**
   * The code points of a general category, such as {@code Lu}, or of a group, such as {@code L}.
   */
  static IntPredicate category(String name) {
    long categories = 0;
    for (int i = 0; i < UnicodeClasses.CATEGORIES.size(); i++) {
      if (UnicodeClasses.CATEGORIES.get(i).startsWith(name)) {
        categories |= 1L << i;
      }
    }
    long chosen = categories;
    return chosen == 0 ? null : c -> (chosen >> UnicodeClasses.category(c) & 1) != 0;
  }

  static boolean isSpace(int codePoint) {
    return UnicodeClasses.of(codePoint) == UnicodeClasses.SPACE;
  }

  /** Returns whether a set has a code point in lower, upper or any equivalent case. */
  static IntPredicate ignoringCase(IntPredicate rule) {
    return c ->
        rule.test(c)
            || rule.test(Character.toLowerCase(c))
            || rule.test(Character.toUpperCase(c))
            || rule.test(Character.toLowerCase(Character.toUpperCase(c)));
  }
}
