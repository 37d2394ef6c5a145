package io.radixflow.text.pretokenizer;

import java.util.function.IntPredicate;

/** Reads a class of code points in brackets, such as {@code [^\r\n\p{L}]}. */
final class CodePointClassParser {

  private static final int DEEPEST = 20;

  private final SplitPatternParser in;
  private int depth;

  CodePointClassParser(SplitPatternParser in) {
    this.in = in;
  }

  /** Reads the class whose bracket is at the cursor. */
  IntPredicate parse() {
    if (in.isAt("[:") || in.isAt("[[:")) {
      throw in.error("has a POSIX class, which is not supported");
    }
    if (++depth > DEEPEST) {
      throw in.error("nests deeper than " + DEEPEST + " classes");
    }
    in.take("[");
    boolean negated = in.take("^");
    IntPredicate whole = null;
    IntPredicate union = null;
    boolean first = true;
    while (first || !in.isAt("]")) {
      if (in.take("&&")) {
        whole = and(whole, union);
        union = null;
        continue;
      }
      IntPredicate item = in.isAt("[") ? parse() : item();
      union = union == null ? item : union.or(item);
      first = false;
    }
    in.take("]");
    depth--;
    IntPredicate set = and(whole, union);
    return negated ? set.negate() : set;
  }

  private IntPredicate and(IntPredicate left, IntPredicate right) {
    if (right == null) {
      throw in.error("has an empty class");
    }
    return left == null ? right : left.and(right);
  }

  /** A range, a code point, or the set of an escape. */
  private IntPredicate item() {
    int first;
    if (in.isAt("\\p") || in.isAt("\\P") || isShort()) {
      return in.escapedSet();
    }
    first = single();
    if (in.isAt("-") && !in.isAt("-]") && !in.isAt("-&&")) {
      in.take("-");
      int last = single();
      if (last < first) {
        throw in.error("has a range that ends before it begins");
      }
      return x -> x >= first && x <= last;
    }
    return x -> x == first;
  }

  private boolean isShort() {
    return in.isAt("\\s")
        || in.isAt("\\S")
        || in.isAt("\\d")
        || in.isAt("\\D")
        || in.isAt("\\w")
        || in.isAt("\\W");
  }

  private int single() {
    return in.take("\\") ? in.escapedCodePoint() : in.codePoint();
  }
}
