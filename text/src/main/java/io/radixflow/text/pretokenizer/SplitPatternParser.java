package io.radixflow.text.pretokenizer;

import io.radixflow.models.ModelFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/** Reads regular expressions of tokenizers. */
final class SplitPatternParser {

  private static final int LONGEST = 1 << 16;
  private static final int DEEPEST = 50;

  /** A count in braces above this is refused: groups are written out that often. */
  private static final int MOST_REPEATS = 1_000;

  /** The steps that all parts of a pattern may come to once groups are written out. */
  private static final int MOST_STEPS = 20_000;

  private static final long ENDLESS = Integer.MAX_VALUE;

  /** The code points that a look-behind may look back. */
  private static final int FARTHEST_BACK = 255;

  /**
   * A part of the pattern.
   *
   * @param before makes its steps, given the steps that follow
   * @param least the least number of code points that it matches
   * @param most the greatest number of code points; {@link #ENDLESS} if there is none
   * @param steps how many steps it has
   * @param set the code points of a part that matches one; null for any other
   */
  private record Part(
      UnaryOperator<SplitNode> before, int least, long most, int steps, CodePointSet set) {}

  private final String regex;
  private int at;
  private int depth;
  private boolean ignoresCase;

  SplitPatternParser(String regex) {
    this.regex = regex;
    if (regex.length() > LONGEST) {
      throw error("is longer than " + LONGEST + " characters");
    }
  }

  static SplitNode literal(String text) {
    SplitNode node = SplitNode.end();
    int[] codePoints = text.codePoints().toArray();
    for (int i = codePoints.length - 1; i >= 0; i--) {
      int c = codePoints[i];
      node = new SplitNode.Run(CodePointSet.of(x -> x == c), 1, 1, false, node);
    }
    return node;
  }

  SplitNode parse() {
    Part part = alternatives();
    if (at < regex.length()) {
      throw error("has a ')' too many");
    }
    return part.before.apply(SplitNode.end());
  }

  private Part alternatives() {
    boolean outer = ignoresCase;
    if (++depth > DEEPEST) {
      throw error("nests deeper than " + DEEPEST + " groups");
    }
    List<Part> parts = new ArrayList<>();
    do {
      parts.add(sequence());
    } while (take("|"));
    depth--;
    ignoresCase = outer;
    if (parts.size() == 1) {
      return parts.get(0);
    }
    int least = parts.stream().mapToInt(Part::least).min().getAsInt();
    return new Part(
        next ->
            SplitNode.branch(
                parts.stream().map(p -> p.before.apply(next)).toArray(SplitNode[]::new)),
        least,
        parts.stream().mapToLong(Part::most).max().getAsLong(),
        checked(parts.stream().mapToLong(Part::steps).sum()),
        null);
  }

  private Part sequence() {
    List<Part> parts = new ArrayList<>();
    while (at < regex.length() && regex.charAt(at) != '|' && regex.charAt(at) != ')') {
      Part atom = atom();
      if (atom != null) {
        parts.add(quantified(atom));
      }
    }
    return joined(parts);
  }

  private Part joined(List<Part> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    return new Part(
        next -> {
          SplitNode node = next;
          for (int i = parts.size() - 1; i >= 0; i--) {
            node = parts.get(i).before.apply(node);
          }
          return node;
        },
        parts.stream().mapToInt(Part::least).sum(),
        Math.min(ENDLESS, parts.stream().mapToLong(Part::most).sum()),
        checked(parts.stream().mapToLong(Part::steps).sum()),
        null);
  }

  private int checked(long steps) {
    if (steps > MOST_STEPS) {
      throw error("has more than " + MOST_STEPS + " steps");
    }
    return (int) steps;
  }

  /** One atom; null for a flag such as {@code (?i)}, which matches nothing. */
  private Part atom() {
    char c = regex.charAt(at);
    return switch (c) {
      case '(' -> group();
      case '[' -> one(new CodePointClassParser(this).parse());
      case '.' -> {
        at++;
        yield one(x -> x != '\n');
      }
      case '^' -> position((in, i) -> i == in.from || in.text[i - 1] == '\n');
      case '$' -> position((in, i) -> i == in.to || in.text[i] == '\n');
      case '*', '+', '?' -> throw error("repeats nothing at " + at);
      case '\\' -> escape();
      default -> {
        int codePoint = codePoint();
        yield one(x -> x == codePoint);
      }
    };
  }

  private Part one(IntPredicate rule) {
    IntPredicate set = ignoresCase ? CodePointSet.ignoringCase(rule) : rule;
    return one(CodePointSet.of(set));
  }

  private static Part one(CodePointSet set) {
    return new Part(next -> new SplitNode.Run(set, 1, 1, false, next), 1, 1, 1, set);
  }

  private Part position(SplitNode.Assertion assertion) {
    at++;
    return new Part(next -> SplitNode.assertion(assertion, next), 0, 0, 1, null);
  }

  private Part escape() {
    String rest = regex.substring(at, Math.min(regex.length(), at + 2));
    switch (rest) {
      case "\\b", "\\B" -> {
        boolean wanted = rest.equals("\\b");
        at++;
        return position((in, i) -> isBoundary(in, i) == wanted);
      }
      case "\\A" -> {
        at++;
        return position((in, i) -> i == in.from);
      }
      case "\\z", "\\Z" -> {
        at++;
        return position((in, i) -> i == in.to);
      }
      default -> {
        return one(escapedSet());
      }
    }
  }

  private static boolean isBoundary(SplitNode.Input in, int at) {
    boolean before = at > in.from && isWord(in.before(at));
    boolean after = at < in.to && isWord(in.codePoint(at));
    return before != after;
  }

  /**
   * Returns whether Oniguruma counts a character as part of a word. It includes the superscripts
   * and fractions of Latin 1.
   */
  private static boolean isWord(int codePoint) {
    return UnicodeClasses.isWord(codePoint) || "²³¹¼½¾".indexOf(codePoint) >= 0;
  }

  private Part group() {
    if (take("(?i)")) {
      ignoresCase = true;
      return null;
    }
    if (take("(?i:")) {
      return inside(true);
    }
    if (take("(?:")) {
      return inside(ignoresCase);
    }
    if (take("(?>")) {
      Part inner = inside(ignoresCase);
      return atomic(inner);
    }
    boolean negative = take("(?!");
    if (negative || take("(?=")) {
      Part inner = inside(ignoresCase);
      return new Part(
          next -> {
            SplitNode ahead = inner.before.apply(SplitNode.end());
            return SplitNode.assertion((in, i) -> ahead.match(in, i) < 0 == negative, next);
          },
          0,
          0,
          inner.steps + 1,
          null);
    }
    boolean notBehind = take("(?<!");
    if (notBehind || take("(?<=")) {
      return behind(inside(ignoresCase), notBehind);
    }
    if (regex.startsWith("(?", at) || regex.startsWith("(*", at)) {
      int end = Math.min(regex.length(), at + 4);
      throw error("has a group '" + regex.substring(at, end) + "', which is not supported");
    }
    at++;
    return inside(ignoresCase);
  }

  private Part inside(boolean ignoring) {
    boolean outer = ignoresCase;
    ignoresCase = ignoring;
    Part part = alternatives();
    ignoresCase = outer;
    if (!take(")")) {
      throw error("has a '(' without ')'");
    }
    return part;
  }

  private static Part atomic(Part inner) {
    return new Part(
        next -> SplitNode.atomic(inner.before.apply(SplitNode.end()), next),
        inner.least,
        inner.most,
        inner.steps + 1,
        null);
  }

  /** Tries the pattern from each position so far back that it can end here. */
  private Part behind(Part inner, boolean negative) {
    if (inner.most > FARTHEST_BACK) {
      throw error("looks back over more than " + FARTHEST_BACK + " characters");
    }
    return new Part(
        next -> {
          SplitNode ends =
              inner.before.apply(SplitNode.assertion((in, i) -> i == in.here(), SplitNode.end()));
          return SplitNode.assertion(
              (in, i) -> in.endsHere(ends, inner.least, (int) inner.most, i) != negative, next);
        },
        0,
        0,
        inner.steps + 1,
        null);
  }

  private Part quantified(Part part) {
    int least;
    int most;
    if (take("*")) {
      least = 0;
      most = Integer.MAX_VALUE;
    } else if (take("+")) {
      least = 1;
      most = Integer.MAX_VALUE;
    } else if (take("?")) {
      least = 0;
      most = 1;
    } else if (at < regex.length() && regex.charAt(at) == '{') {
      int[] counts = counts();
      least = counts[0];
      most = counts[1];
    } else {
      return part;
    }
    boolean lazy = take("?");
    boolean possessive = !lazy && take("+");
    Part repeated =
        part.set != null
            ? new Part(
                next -> new SplitNode.Run(part.set, least, most, lazy, next), least, most, 1, null)
            : repeatedGroup(part, least, most, lazy);
    Part whole = possessive ? atomic(repeated) : repeated;
    return at < regex.length() && "*+?{".indexOf(regex.charAt(at)) >= 0 ? quantified(whole) : whole;
  }

  private int[] counts() {
    int close = regex.indexOf('}', at);
    String inside = close < 0 ? "" : regex.substring(at + 1, close);
    if (!inside.matches("[0-9]{1,4}(,[0-9]{0,4})?")) {
      throw error("has a '{' that begins no count, at " + at);
    }
    at = close + 1;
    int comma = inside.indexOf(',');
    int least = Integer.parseInt(comma < 0 ? inside : inside.substring(0, comma));
    String last = inside.substring(comma + 1);
    int most = last.isEmpty() ? Integer.MAX_VALUE : Integer.parseInt(last);
    if (least > MOST_REPEATS || most < least || most < Integer.MAX_VALUE && most > MOST_REPEATS) {
      throw error("repeats " + inside + " times; up to " + MOST_REPEATS + " are possible");
    }
    return new int[] {least, most};
  }

  private Part repeatedGroup(Part part, int least, int most, boolean lazy) {
    boolean endless = most == Integer.MAX_VALUE;
    if (endless && part.least == 0) {
      throw error("repeats a group that may match nothing");
    }
    int optional = endless ? 1 : most - least;
    return new Part(
        next -> {
          SplitNode node = next;
          if (endless) {
            SplitNode.Repeat repeat = new SplitNode.Repeat(lazy, next);
            repeat.body(part.before.apply(repeat));
            node = repeat;
          } else {
            for (int i = 0; i < optional; i++) {
              SplitNode once = part.before.apply(node);
              node = lazy ? SplitNode.branch(next, once) : SplitNode.branch(once, next);
            }
          }
          for (int i = 0; i < least; i++) {
            node = part.before.apply(node);
          }
          return node;
        },
        part.least * least,
        Math.min(ENDLESS, part.most * most),
        checked((long) part.steps * (least + optional) + 1),
        null);
  }

  /** Reads the set of an escape at the cursor. */
  IntPredicate escapedSet() {
    at++;
    if (at == regex.length()) {
      throw error("ends with a backslash");
    }
    char c = regex.charAt(at);
    switch (c) {
      case 'p', 'P' -> {
        return property(c == 'P');
      }
      case 's', 'S', 'd', 'D', 'w', 'W' -> {
        at++;
        IntPredicate set =
            switch (Character.toLowerCase(c)) {
              case 's' -> CodePointSet::isSpace;
              case 'd' -> CodePointSet.category("Nd");
              default -> SplitPatternParser::isWord;
            };
        return Character.isUpperCase(c) ? set.negate() : set;
      }
      default -> {
        int codePoint = escapedCodePoint();
        return x -> x == codePoint;
      }
    }
  }

  private IntPredicate property(boolean negated) {
    int close = regex.indexOf('}', at);
    if (!regex.startsWith("{", at + 1) || close < 0) {
      throw error("has \\p without braces");
    }
    String name = regex.substring(at + 2, close);
    at = close + 1;
    boolean caret = name.startsWith("^");
    String bare = caret ? name.substring(1) : name;
    IntPredicate set =
        bare.matches("[A-Z][a-z]?") ? CodePointSet.category(bare) : named(bare.toLowerCase());
    if (set == null) {
      throw error("has the property '" + name + "', which is not supported");
    }
    return negated != caret ? set.negate() : set;
  }

  private static IntPredicate named(String name) {
    return switch (name) {
      case "letter" -> CodePointSet.category("L");
      case "mark" -> CodePointSet.category("M");
      case "number" -> CodePointSet.category("N");
      case "punctuation" -> CodePointSet.category("P");
      case "symbol" -> CodePointSet.category("S");
      case "space", "white_space" -> CodePointSet::isSpace;
      default -> UnicodeScripts.of(name);
    };
  }

  /** Reads the code point of an escape; the cursor is after the backslash. */
  int escapedCodePoint() {
    char c = regex.charAt(at);
    int simple = "rntfvae".indexOf(c);
    if (simple >= 0) {
      at++;
      return "\r\n\t\f\u000b\u0007\u001b".charAt(simple);
    }
    if (c == 'x' && regex.startsWith("{", at + 1)) {
      int close = regex.indexOf('}', at);
      return hexadecimal(at + 2, close, close + 1);
    }
    if (c == 'x') {
      return hexadecimal(at + 1, at + 3, at + 3);
    }
    if (c == 'u') {
      return hexadecimal(at + 1, at + 5, at + 5);
    }
    if (c < 0x80 && Character.isLetterOrDigit(c)) {
      throw error("has \\" + c + ", which is not supported");
    }
    return codePoint();
  }

  private int hexadecimal(int from, int to, int next) {
    String digits = to < from || to > regex.length() ? "" : regex.substring(from, to);
    if (!digits.matches("[0-9A-Fa-f]{1,6}") || Integer.parseInt(digits, 16) > 0x10FFFF) {
      throw error("has a code point that is not hexadecimal");
    }
    at = next;
    return Integer.parseInt(digits, 16);
  }

  /** Reads the code point at the cursor. */
  int codePoint() {
    if (at >= regex.length()) {
      throw error("ends within a class");
    }
    int codePoint = regex.codePointAt(at);
    at += Character.charCount(codePoint);
    return codePoint;
  }

  boolean take(String text) {
    boolean there = regex.startsWith(text, at);
    if (there) {
      at += text.length();
    }
    return there;
  }

  boolean isAt(String text) {
    return regex.startsWith(text, at);
  }

  ModelFormatException error(String problem) {
    String shown = regex.length() > 200 ? regex.substring(0, 200) + "…" : regex;
    return new ModelFormatException("pre-tokenizer pattern '" + shown + "' " + problem);
  }
}
