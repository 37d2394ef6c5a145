package io.radixflow.kernels.grammar.regex;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads regular expressions in the syntax of Rust's regex crate, without look-around, word
 * boundaries and multi-line anchors. Used once for one expression.
 */
public final class RegexParser {
  private final RegexPool pool;
  private final String text;

  /** Whether {@code \d} and {@code \w} mean ASCII alone. */
  private final boolean ascii;

  private int at;
  private int groups;
  private boolean ignoreCase;
  private boolean dotAll;
  private boolean verbose;

  private RegexParser(RegexPool pool, String text, boolean ascii, String flags) {
    this.pool = pool;
    this.text = text;
    this.ascii = ascii;
    ignoreCase = flags.indexOf('i') >= 0;
    dotAll = flags.indexOf('s') >= 0;
    verbose = flags.indexOf('x') >= 0;
  }

  /** A source text and its flags; the flags are null if a match is searched for. */
  private record Source(String text, String flags) {}

  /** An expression that matches a text as a whole. */
  public static Regex whole(RegexPool pool, String text, String flags) {
    return pool.parsed(
        new Source(text, flags),
        () -> new RegexParser(pool, text, false, flags).parse().regex(pool, true, true));
  }

  /** The values in which the {@code pattern} of a schema is found. */
  public static Regex pattern(RegexPool pool, String text) {
    return pool.parsed(
        new Source(text, null), () -> new RegexParser(pool, text, true, "").parse().searched(pool));
  }

  private GrammarException error(String message) {
    return new GrammarException(
        "regex", "offset " + at, "the regular expression is invalid: " + message);
  }

  private GrammarException unsupported(String what) {
    return new GrammarException(
        "regex", "offset " + at, what + " is not supported in regular expressions");
  }

  private RegexTree parse() {
    RegexTree tree = alternatives();
    if (at < text.length()) {
      throw error("an unopened group is closed");
    }
    return tree;
  }

  private boolean more() {
    return at < text.length();
  }

  private int peek() {
    return at < text.length() ? text.codePointAt(at) : -1;
  }

  private int take() {
    if (!more()) {
      throw error("it ends too early");
    }
    int value = text.codePointAt(at);
    at += Character.charCount(value);
    if (value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE) {
      throw error("it holds half a surrogate pair");
    }
    return value;
  }

  private boolean skip(String expected) {
    boolean there = text.startsWith(expected, at);
    at += there ? expected.length() : 0;
    return there;
  }

  private RegexTree alternatives() {
    if (++groups > Limits.GROUPS) {
      throw GrammarException.tooLarge("groups are nested more than " + Limits.GROUPS + " deep");
    }
    List<RegexTree> branches = new ArrayList<>();
    do {
      branches.add(sequence());
    } while (skip("|"));
    groups--;
    return RegexTree.either(pool, branches);
  }

  private RegexTree sequence() {
    List<RegexTree> parts = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    while (true) {
      skipBlanks();
      int next = peek();
      if (next < 0 || next == '|' || next == ')') {
        flush(literal, parts);
        return RegexTree.sequence(pool, parts);
      }
      int before = at;
      int single = literal(next);
      if (single >= 0 && !repeats() && !ignoreCase) {
        literal.appendCodePoint(single);
        continue;
      }
      at = before;
      flush(literal, parts);
      RegexTree part = atom();
      if (part != null) {
        parts.add(repetitions(part));
      }
    }
  }

  private void flush(StringBuilder literal, List<RegexTree> parts) {
    if (literal.length() > 0) {
      parts.add(RegexTree.plain(pool.text(literal.toString())));
      literal.setLength(0);
    }
  }

  /** Takes a character that stands for itself; -1 for anything else. */
  private int literal(int next) {
    if ("\\.^$()[{*+?|".indexOf(next) >= 0) {
      return -1;
    }
    return take();
  }

  private boolean repeats() {
    skipBlanks();
    int next = peek();
    return next == '*' || next == '+' || next == '?' || next == '{';
  }

  private void skipBlanks() {
    while (verbose && more()) {
      if (peek() == '#') {
        while (more() && take() != '\n') {
          continue;
        }
      } else if (UnicodeNames.SPACE.contains(peek())) {
        take();
      } else {
        return;
      }
    }
  }

  private RegexTree atom() {
    int value = take();
    switch (value) {
      case '.':
        CodePoints dot = dotAll ? CodePoints.ALL : CodePoints.of('\n').negate();
        return chars(dot);
      case '^', '$':
        return RegexTree.anchor(value == '^');
      case '(':
        return group();
      case '[':
        return chars(set());
      case '*', '+', '?', '{':
        throw error("nothing is repeated");
      case '\\':
        if (skip("A") || skip("z")) {
          return RegexTree.anchor(text.charAt(at - 1) == 'A');
        }
        return chars(escape());
      default:
        return chars(fold(CodePoints.of(value)));
    }
  }

  private RegexTree chars(CodePoints set) {
    return RegexTree.plain(pool.chars(set));
  }

  private CodePoints fold(CodePoints set) {
    return ignoreCase ? set.foldCase() : set;
  }

  /** A group after its parenthesis; null if it only sets flags. */
  private RegexTree group() {
    boolean outerCase = ignoreCase;
    boolean outerDot = dotAll;
    boolean outerVerbose = verbose;
    if (skip("?")) {
      if (peek() == '='
          || peek() == '!'
          || text.startsWith("<=", at)
          || text.startsWith("<!", at)) {
        throw unsupported("look-around");
      }
      if (skip("P<") || skip("<")) {
        name();
      } else if (!flags()) {
        return null;
      }
    }
    RegexTree inside = alternatives();
    if (!skip(")")) {
      throw error("a group is not closed");
    }
    ignoreCase = outerCase;
    dotAll = outerDot;
    verbose = outerVerbose;
    return inside;
  }

  private void name() {
    int from = at;
    while (more() && peek() != '>') {
      int value = take();
      if (!Character.isLetterOrDigit(value) && "_.[]".indexOf(value) < 0) {
        throw error("a group has an invalid name");
      }
    }
    if (at == from || !skip(">")) {
      throw error("the name of a group does not end");
    }
  }

  /** Reads flags; returns whether a group follows for which they hold, else they hold on. */
  private boolean flags() {
    boolean on = true;
    boolean newCase = ignoreCase;
    boolean newDot = dotAll;
    boolean newVerbose = verbose;
    while (true) {
      int flag = take();
      if (flag == ':' || flag == ')') {
        ignoreCase = newCase;
        dotAll = newDot;
        verbose = newVerbose;
        return flag == ':';
      }
      switch (flag) {
        case '-' -> on = false;
        case 'i' -> newCase = on;
        case 's' -> newDot = on;
        case 'x' -> newVerbose = on;
        case 'u', 'U' -> {
          if (flag == 'u' && !on) {
            throw unsupported("matching bytes that are not Unicode");
          }
        }
        case 'm', 'R' -> {
          if (on) {
            throw unsupported("multi-line mode");
          }
        }
        default -> throw error("there is no flag " + Character.toString(flag));
      }
    }
  }

  private RegexTree repetitions(RegexTree part) {
    RegexTree made = part;
    int nested = 0;
    while (repeats()) {
      if (++nested > Limits.GROUPS) {
        throw GrammarException.tooLarge(
            "repetitions are nested more than " + Limits.GROUPS + " deep");
      }
      int operator = take();
      int min = operator == '+' ? 1 : 0;
      int max = operator == '?' ? 1 : Regex.MANY;
      if (operator == '{') {
        skipBlanks();
        min = number();
        max = min;
        skipBlanks();
        if (skip(",")) {
          skipBlanks();
          max = peek() == '}' ? Regex.MANY : number();
          skipBlanks();
        }
        if (!skip("}")) {
          throw error("a count is not closed");
        }
      }
      if (max < min) {
        throw error("a count ends before it begins");
      }
      skip("?");
      made = RegexTree.repeat(pool, made, min, max);
    }
    return made;
  }

  private int number() {
    int from = at;
    long value = 0;
    while (more() && peek() >= '0' && peek() <= '9') {
      value = Math.min(value * 10 + take() - '0', Integer.MAX_VALUE);
    }
    if (at == from) {
      throw error("a count is missing");
    }
    if (value > Limits.REPEAT) {
      throw GrammarException.tooLarge("a count is above " + Limits.REPEAT);
    }
    return (int) value;
  }

  /** A set after its bracket. */
  private CodePoints set() {
    if (++groups > Limits.GROUPS) {
      throw GrammarException.tooLarge("sets are nested more than " + Limits.GROUPS + " deep");
    }
    boolean negated = skip("^");
    CodePoints left = null;
    char operator = 0;
    CodePoints current = CodePoints.NONE;
    boolean first = true;
    while (true) {
      skipBlanks();
      if (!first && skip("]")) {
        break;
      }
      char found =
          text.startsWith("&&", at)
              ? '&'
              : text.startsWith("--", at) && !first ? '-' : text.startsWith("~~", at) ? '~' : 0;
      if (found != 0) {
        at += 2;
        left = combine(left, operator, current);
        operator = found;
        current = CodePoints.NONE;
      } else {
        current = current.or(member(first));
      }
      first = false;
    }
    groups--;
    CodePoints all = combine(left, operator, current);
    return negated ? all.negate() : all;
  }

  private static CodePoints combine(CodePoints left, char operator, CodePoints right) {
    return switch (operator) {
      case '&' -> left.and(right);
      case '-' -> left.minus(right);
      case '~' -> left.or(right).minus(left.and(right));
      default -> right;
    };
  }

  private CodePoints member(boolean first) {
    if (!first || peek() != ']') {
      if (skip("[:")) {
        return posix();
      }
      if (skip("[")) {
        return set();
      }
    }
    int from = at;
    CodePoints low = single();
    boolean range = peek() == '-' && !text.startsWith("-]", at) && !text.startsWith("--", at);
    if (!range) {
      return fold(low);
    }
    int lowest = onlyMember(low, from);
    at++;
    skipBlanks();
    int end = at;
    int highest = onlyMember(single(), end);
    if (lowest > highest) {
      throw error("a range ends before it begins");
    }
    return fold(CodePoints.range(lowest, highest));
  }

  private int onlyMember(CodePoints set, int from) {
    int only = set.only();
    if (only < 0) {
      at = from;
      throw error("a range begins or ends with a class");
    }
    return only;
  }

  private CodePoints single() {
    int value = take();
    return value == '\\' ? escape() : CodePoints.of(value);
  }

  private CodePoints posix() {
    boolean negated = skip("^");
    int end = text.indexOf(":]", at);
    CodePoints set = end < 0 ? null : UnicodeNames.posix(text.substring(at, end));
    if (set == null) {
      throw error("there is no such class");
    }
    at = end + 2;
    return negated ? set.negate() : fold(set);
  }

  /** Reads an escape after its backslash; returns the code points that it stands for. */
  private CodePoints escape() {
    int value = take();
    switch (value) {
      case 'd':
        return ascii ? UnicodeNames.ASCII_DIGIT : UnicodeNames.digit();
      case 'D':
        return (ascii ? UnicodeNames.ASCII_DIGIT : UnicodeNames.digit()).negate();
      case 'w':
        return ascii ? UnicodeNames.ASCII_WORD : UnicodeNames.word();
      case 'W':
        return (ascii ? UnicodeNames.ASCII_WORD : UnicodeNames.word()).negate();
      case 's':
        return UnicodeNames.SPACE;
      case 'S':
        return UnicodeNames.SPACE.negate();
      case 'p', 'P':
        CodePoints named = property();
        return value == 'P' ? named.negate() : fold(named);
      case 'x':
        return character(peek() == '{' ? braced() : hex(2));
      case 'u':
        return character(peek() == '{' ? braced() : hex(4));
      case 'U':
        return character(peek() == '{' ? braced() : hex(8));
      case 'n', 't', 'r', 'f', 'v', 'a':
        return CodePoints.of("\n\t\r\f\u000B\u0007".charAt("ntrfva".indexOf(value)));
      case 'b', 'B', '<', '>':
        throw unsupported("a word boundary");
      default:
        if (value >= '1' && value <= '9') {
          throw unsupported("a backreference");
        }
        if (value == 'k' || value >= 128 || Character.isLetterOrDigit(value)) {
          throw error("there is no escape \\" + Character.toString(value));
        }
        return fold(CodePoints.of(value));
    }
  }

  private CodePoints character(int value) {
    if (value < 0 || value > CodePoints.MAX || value >= 0xD800 && value <= 0xDFFF) {
      throw error("an escape is no Unicode character");
    }
    return fold(CodePoints.of(value));
  }

  private int braced() {
    int end = text.indexOf('}', at);
    if (end < 0 || end - at > 9 || end == at + 1) {
      throw error("an escape does not end");
    }
    at++;
    int value = hex(end - at);
    at++;
    return value;
  }

  private int hex(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = Character.digit(take(), 16);
      if (digit < 0) {
        throw error("an escape has no hexadecimal digits");
      }
      value = value > 0xFFFFFF ? value : value << 4 | digit;
    }
    return value;
  }

  private CodePoints property() {
    String name;
    if (skip("{")) {
      int end = text.indexOf('}', at);
      if (end < 0 || end - at > 64) {
        throw error("the name of a class does not end");
      }
      name = text.substring(at, end);
      at = end + 1;
    } else {
      name = Character.toString(take());
    }
    boolean negated = name.startsWith("^");
    CodePoints set = UnicodeNames.property(negated ? name.substring(1) : name);
    if (set == null) {
      throw error("there is no class " + name);
    }
    return negated ? set.negate() : set;
  }
}
