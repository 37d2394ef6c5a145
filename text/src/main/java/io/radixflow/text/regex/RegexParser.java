package io.radixflow.text.regex;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads regular expressions in a {@link RegexDialect}. All dialects accept flags within an
 * expression, {@code \A} and {@code \z}. A parser reads only one expression.
 *
 * @param <T> the parts that the builder makes
 */
public final class RegexParser<T> {
  /** The upper count of a repetition without a bound. */
  public static final int MANY = Integer.MAX_VALUE;

  /** Nested groups. */
  static final int MAX_GROUPS = 100;

  private static final int MAX_REPEAT = 1_000_000;
  private static final int MAX_LOOKS = 200;

  private final RegexBuilder<T> builder;
  private final RegexSource source;
  private final RegexDialect dialect;
  private final CharacterSyntax characters;
  private int groups;
  private int looks;
  private boolean ignoreCase;
  private boolean dotAll;
  private boolean verbose;
  private boolean multiLine;

  private RegexParser(String text, RegexDialect dialect, String flags, RegexBuilder<T> builder) {
    this.builder = builder;
    this.dialect = dialect;
    source = new RegexSource(text);
    characters =
        dialect == RegexDialect.ECMA
            ? new EcmaCharacters(source)
            : new UnicodeCharacters(source, dialect);
    ignoreCase = flags.indexOf('i') >= 0;
    dotAll = flags.indexOf('s') >= 0;
    verbose = flags.indexOf('x') >= 0;
    multiLine = dialect == RegexDialect.ONIGURUMA;
  }

  /**
   * Reads an expression.
   *
   * @param flags any of {@code i}, {@code s} and {@code x}, which apply from the start
   * @return what the builder made of the whole expression
   * @throws RegexException if the expression is malformed, not supported or too large
   */
  public static <T> T parse(
      String text, RegexDialect dialect, String flags, RegexBuilder<T> builder) {
    RegexParser<T> parser = new RegexParser<>(text, dialect, flags, builder);
    T whole = parser.alternatives();
    if (parser.source.more()) {
      throw parser.source.error("an unopened group is closed");
    }
    return whole;
  }

  private T alternatives() {
    if (++groups > MAX_GROUPS) {
      throw RegexException.tooLarge("groups are nested more than " + MAX_GROUPS + " deep");
    }
    List<T> branches = new ArrayList<>();
    do {
      branches.add(sequence());
    } while (source.skip("|"));
    groups--;
    return builder.either(branches);
  }

  private T sequence() {
    List<T> parts = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    while (true) {
      skipBlanks();
      int next = source.peek();
      if (next < 0 || next == '|' || next == ')') {
        flush(literal, parts);
        return builder.sequence(parts);
      }
      int before = source.at;
      int single = literal(next);
      if (single >= 0 && !repeats() && !ignoreCase) {
        literal.appendCodePoint(single);
        continue;
      }
      source.at = before;
      flush(literal, parts);
      T part = atom();
      if (part != null) {
        parts.add(repetitions(part));
      }
    }
  }

  private void flush(StringBuilder literal, List<T> parts) {
    if (literal.codePointCount(0, literal.length()) == 1) {
      parts.add(builder.one(CodePoints.of(literal.codePointAt(0))));
    } else if (literal.length() > 0) {
      parts.add(builder.text(literal.toString()));
    }
    literal.setLength(0);
  }

  /** Reads a literal character; returns -1 for any other syntax. */
  private int literal(int next) {
    boolean plain = next == '{' && !isCount();
    return "\\.^$()[{*+?|".indexOf(next) >= 0 && !plain ? -1 : source.take();
  }

  private boolean repeats() {
    skipBlanks();
    int next = source.peek();
    return next == '*' || next == '+' || next == '?' || next == '{' && isCount();
  }

  /** Returns whether a brace begins a count. Any other brace is a literal, but not in Rust. */
  private boolean isCount() {
    if (dialect == RegexDialect.RUST) {
      return true;
    }
    int from = source.at;
    source.at++;
    boolean count = source.decimal() >= 0 || dialect == RegexDialect.ONIGURUMA;
    if (source.skip(",")) {
      source.decimal();
    }
    count &= source.skip("}");
    source.at = from;
    return count;
  }

  private void skipBlanks() {
    while (verbose && source.more()) {
      if (source.peek() == '#') {
        while (source.more() && source.take() != '\n') {
          continue;
        }
      } else if (characters.blanks().contains(source.peek())) {
        source.take();
      } else {
        return;
      }
    }
  }

  private T atom() {
    int value = source.take();
    switch (value) {
      case '.':
        return builder.one(characters.dot(dotAll));
      case '^':
        return builder.behind(multiLine ? characters.lineEnds() : CodePoints.NONE, true);
      case '$':
        return multiLine ? lineEnd() : builder.end();
      case '(':
        return group();
      case '[':
        return builder.one(characters.set(ignoreCase, verbose));
      case '*', '+', '?':
        throw source.error("nothing is repeated");
      case '{':
        source.at--;
        if (isCount()) {
          throw source.error("nothing is repeated");
        }
        return builder.one(CodePoints.of(source.take()));
      case '\\':
        return escape();
      default:
        CodePoints set = CodePoints.of(value);
        return builder.one(ignoreCase ? set.foldCase() : set);
    }
  }

  private T lineEnd() {
    T next = builder.one(characters.lineEnds());
    return builder.either(List.of(builder.end(), look(next, false)));
  }

  private T escape() {
    if (source.skip("A")) {
      return builder.behind(CodePoints.NONE, true);
    }
    if (source.skip("z") || dialect != RegexDialect.RUST && source.skip("Z")) {
      return builder.end();
    }
    boolean boundary = source.peek() == 'b' || source.peek() == 'B';
    if (boundary && (dialect != RegexDialect.RUST || !source.startsWith("b{"))) {
      looks += 2;
      return boundary(characters.word(), source.take() == 'b');
    }
    return builder.one(characters.escape(ignoreCase));
  }

  /** Matches at word boundaries if {@code there}, and at all other positions if not. */
  private T boundary(CodePoints word, boolean there) {
    T inside = builder.behind(word, false);
    T outside = builder.behind(word.negate(), true);
    T next = builder.one(word);
    return builder.either(
        List.of(
            builder.sequence(List.of(inside, builder.ahead(next, there))),
            builder.sequence(List.of(outside, builder.ahead(next, !there)))));
  }

  private T look(T part, boolean negated) {
    if (++looks > MAX_LOOKS) {
      throw RegexException.tooLarge("an expression looks around more than " + MAX_LOOKS + " times");
    }
    return builder.ahead(part, negated);
  }

  /** Reads a group after its parenthesis; null if it only sets flags. */
  private T group() {
    boolean outerCase = ignoreCase;
    boolean outerDot = dotAll;
    boolean outerVerbose = verbose;
    boolean outerLines = multiLine;
    String look = "";
    if (source.skip("?")) {
      look = lookAround();
      if (!look.isEmpty()) {
        source.at += look.length();
      } else if (source.skip("P<") || source.skip("<")) {
        name();
      } else if (dialect == RegexDialect.ONIGURUMA && source.skip(">")) {
        look = ">";
      } else if (!flags()) {
        return null;
      }
    }
    T inside = alternatives();
    if (!source.skip(")")) {
      throw source.error("a group is not closed");
    }
    ignoreCase = outerCase;
    dotAll = outerDot;
    verbose = outerVerbose;
    multiLine = outerLines;
    return switch (look) {
      case "" -> inside;
      case ">" -> builder.atomic(inside);
      case "=", "!" -> look(inside, look.equals("!"));
      default -> lookBehind(inside, look.equals("<!"));
    };
  }

  private String lookAround() {
    for (String look : List.of("=", "!", "<=", "<!")) {
      if (source.startsWith(look)) {
        return look;
      }
    }
    return "";
  }

  private T lookBehind(T inside, boolean negated) {
    T tree = builder.lookBehind(inside, negated);
    if (tree == null) {
      throw source.unsupported("a look-behind at more than one character");
    }
    return tree;
  }

  private void name() {
    int from = source.at;
    while (source.more() && source.peek() != '>') {
      int value = source.take();
      if (!Character.isLetterOrDigit(value) && "_$.[]".indexOf(value) < 0) {
        throw source.error("a group has an invalid name");
      }
    }
    if (source.at == from || !source.skip(">")) {
      throw source.error("the name of a group does not end");
    }
  }

  /**
   * Reads flags. Returns whether they apply to a group that follows; otherwise they apply to the
   * rest of the current group.
   */
  private boolean flags() {
    boolean on = true;
    boolean newCase = ignoreCase;
    boolean newDot = dotAll;
    boolean newVerbose = verbose;
    boolean newLines = multiLine;
    while (true) {
      int flag = source.take();
      if (flag == ':' || flag == ')') {
        ignoreCase = newCase;
        dotAll = newDot;
        verbose = newVerbose;
        multiLine = newLines;
        return flag == ':';
      }
      if (dialect == RegexDialect.ONIGURUMA && "-i".indexOf(flag) < 0) {
        throw source.unsupported("the flag " + Character.toString(flag));
      }
      switch (flag) {
        case '-' -> on = false;
        case 'i' -> newCase = on;
        case 's' -> newDot = on;
        case 'x' -> newVerbose = on;
        case 'm' -> newLines = on;
        case 'u', 'U' -> {
          if (flag == 'u' && !on) {
            throw source.unsupported("matching bytes that are not Unicode");
          }
        }
        case 'R' -> {
          if (on) {
            throw source.unsupported("a mode with other line ends");
          }
        }
        default -> throw source.error("there is no flag " + Character.toString(flag));
      }
    }
  }

  private T repetitions(T part) {
    T made = part;
    int nested = 0;
    while (repeats()) {
      if (++nested > MAX_GROUPS) {
        throw RegexException.tooLarge("repetitions are nested more than " + MAX_GROUPS + " deep");
      }
      int operator = source.take();
      int min = operator == '+' ? 1 : 0;
      int max = operator == '?' ? 1 : MANY;
      if (operator == '{') {
        skipBlanks();
        min = number();
        max = min;
        skipBlanks();
        if (source.skip(",")) {
          skipBlanks();
          max = source.peek() == '}' ? MANY : number();
          skipBlanks();
        }
        if (!source.skip("}")) {
          throw source.error("a count is not closed");
        }
      }
      if (max < min) {
        throw source.error("a count ends before it begins");
      }
      made = builder.repeat(made, min, max, greed());
    }
    return made;
  }

  private RegexBuilder.Greed greed() {
    if (source.skip("?")) {
      return RegexBuilder.Greed.LAZY;
    }
    return dialect == RegexDialect.ONIGURUMA && source.skip("+")
        ? RegexBuilder.Greed.POSSESSIVE
        : RegexBuilder.Greed.GREEDY;
  }

  private int number() {
    int value = source.decimal();
    if (value < 0) {
      throw source.error("a count is missing");
    }
    if (value > MAX_REPEAT) {
      throw RegexException.tooLarge("a count is above " + MAX_REPEAT);
    }
    return value;
  }
}
