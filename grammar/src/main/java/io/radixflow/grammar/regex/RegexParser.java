package io.radixflow.grammar.regex;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads regular expressions in a {@link RegexDialect}, with look-ahead, and look-behind at one
 * character. Both dialects accept flags within an expression, {@code \A} and {@code \z}. A parser
 * reads only one expression.
 */
public final class RegexParser {
  private static final int MAX_LOOKS = 200;

  private final RegexPool pool;
  private final RegexSource source;
  private final boolean ecma;
  private final CharacterSyntax characters;
  private int groups;
  private int looks;
  private boolean ignoreCase;
  private boolean dotAll;
  private boolean verbose;
  private boolean multiLine;

  private RegexParser(RegexPool pool, String text, RegexDialect dialect, String flags) {
    this.pool = pool;
    source = new RegexSource(text);
    ecma = dialect == RegexDialect.ECMA;
    characters = ecma ? new EcmaCharacters(source) : new RustCharacters(source);
    ignoreCase = flags.indexOf('i') >= 0;
    dotAll = flags.indexOf('s') >= 0;
    verbose = flags.indexOf('x') >= 0;
  }

  /** A source text and its flags; the flags are null if a match is searched for. */
  private record Source(String text, String flags) {}

  /** An expression in Rust's syntax that matches a text as a whole. */
  public static Regex whole(RegexPool pool, String text, String flags) {
    return pool.parsed(
        new Source(text, flags),
        () ->
            RegexCompiler.whole(
                pool, new RegexParser(pool, text, RegexDialect.RUST, flags).parse()));
  }

  /**
   * Returns the expression of the values that contain a match of a schema's {@code pattern}, in
   * ECMA-262's syntax.
   */
  public static Regex pattern(RegexPool pool, String text) {
    return pool.parsed(
        new Source(text, null),
        () ->
            RegexCompiler.searched(
                pool, new RegexParser(pool, text, RegexDialect.ECMA, "").parse()));
  }

  private RegexTree parse() {
    RegexTree tree = alternatives();
    if (source.more()) {
      throw source.error("an unopened group is closed");
    }
    return tree;
  }

  private RegexTree alternatives() {
    if (++groups > Limits.GROUPS) {
      throw GrammarException.tooLarge("groups are nested more than " + Limits.GROUPS + " deep");
    }
    List<RegexTree> branches = new ArrayList<>();
    do {
      branches.add(sequence());
    } while (source.skip("|"));
    groups--;
    return RegexTree.either(pool, branches);
  }

  private RegexTree sequence() {
    List<RegexTree> parts = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    while (true) {
      skipBlanks();
      int next = source.peek();
      if (next < 0 || next == '|' || next == ')') {
        flush(literal, parts);
        return RegexTree.sequence(pool, parts);
      }
      int before = source.at;
      int single = literal(next);
      if (single >= 0 && !repeats() && !ignoreCase) {
        literal.appendCodePoint(single);
        continue;
      }
      source.at = before;
      flush(literal, parts);
      RegexTree part = atom();
      if (part != null) {
        parts.add(repetitions(part));
      }
    }
  }

  private void flush(StringBuilder literal, List<RegexTree> parts) {
    if (literal.codePointCount(0, literal.length()) == 1) {
      parts.add(RegexTree.one(pool, CodePoints.of(literal.codePointAt(0))));
    } else if (literal.length() > 0) {
      parts.add(RegexTree.plain(pool.text(literal.toString())));
    }
    literal.setLength(0);
  }

  /** Reads a literal character; returns -1 for any other syntax. */
  private int literal(int next) {
    boolean plain = ecma && next == '{' && !isCount();
    return "\\.^$()[{*+?|".indexOf(next) >= 0 && !plain ? -1 : source.take();
  }

  private boolean repeats() {
    skipBlanks();
    int next = source.peek();
    return next == '*' || next == '+' || next == '?' || next == '{' && (!ecma || isCount());
  }

  /** Returns whether a brace begins a count. Any other brace is a literal in ECMA-262. */
  private boolean isCount() {
    int from = source.at;
    source.at++;
    boolean count = source.decimal() >= 0;
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

  private RegexTree atom() {
    int value = source.take();
    switch (value) {
      case '.':
        return RegexTree.one(pool, characters.dot(dotAll));
      case '^':
        return RegexTree.behind(multiLine ? characters.lineEnds() : CodePoints.NONE, true);
      case '$':
        return multiLine ? lineEnd() : RegexTree.end();
      case '(':
        return group();
      case '[':
        return RegexTree.one(pool, characters.set(ignoreCase, verbose));
      case '*', '+', '?':
        throw source.error("nothing is repeated");
      case '{':
        source.at--;
        if (!ecma || isCount()) {
          throw source.error("nothing is repeated");
        }
        return RegexTree.one(pool, CodePoints.of(source.take()));
      case '\\':
        return escape();
      default:
        CodePoints set = CodePoints.of(value);
        return RegexTree.one(pool, ignoreCase ? set.foldCase() : set);
    }
  }

  private RegexTree lineEnd() {
    RegexTree next = RegexTree.one(pool, characters.lineEnds());
    return RegexTree.either(pool, List.of(RegexTree.end(), look(next, false)));
  }

  private RegexTree escape() {
    if (source.skip("A")) {
      return RegexTree.behind(CodePoints.NONE, true);
    }
    if (source.skip("z") || ecma && source.skip("Z")) {
      return RegexTree.end();
    }
    boolean boundary = source.peek() == 'b' || source.peek() == 'B';
    if (boundary && (ecma || !source.startsWith("b{"))) {
      looks += 2;
      return RegexTree.boundary(pool, characters.word(), source.take() == 'b');
    }
    return RegexTree.one(pool, characters.escape(ignoreCase));
  }

  private RegexTree look(RegexTree part, boolean negated) {
    if (++looks > MAX_LOOKS) {
      throw GrammarException.tooLarge(
          "an expression looks around more than " + MAX_LOOKS + " times");
    }
    return RegexTree.ahead(part, negated);
  }

  /** Reads a group after its parenthesis; null if it only sets flags. */
  private RegexTree group() {
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
      } else if (!flags()) {
        return null;
      }
    }
    RegexTree inside = alternatives();
    if (!source.skip(")")) {
      throw source.error("a group is not closed");
    }
    ignoreCase = outerCase;
    dotAll = outerDot;
    verbose = outerVerbose;
    multiLine = outerLines;
    return switch (look) {
      case "" -> inside;
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

  private RegexTree lookBehind(RegexTree inside, boolean negated) {
    RegexTree tree = RegexTree.lookBehind(inside, negated);
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

  private RegexTree repetitions(RegexTree part) {
    RegexTree made = part;
    int nested = 0;
    while (repeats()) {
      if (++nested > Limits.GROUPS) {
        throw GrammarException.tooLarge(
            "repetitions are nested more than " + Limits.GROUPS + " deep");
      }
      int operator = source.take();
      int min = operator == '+' ? 1 : 0;
      int max = operator == '?' ? 1 : Regex.MANY;
      if (operator == '{') {
        skipBlanks();
        min = number();
        max = min;
        skipBlanks();
        if (source.skip(",")) {
          skipBlanks();
          max = source.peek() == '}' ? Regex.MANY : number();
          skipBlanks();
        }
        if (!source.skip("}")) {
          throw source.error("a count is not closed");
        }
      }
      if (max < min) {
        throw source.error("a count ends before it begins");
      }
      source.skip("?");
      made = RegexTree.repeat(pool, made, min, max);
    }
    return made;
  }

  private int number() {
    int value = source.decimal();
    if (value < 0) {
      throw source.error("a count is missing");
    }
    if (value > Limits.REPEAT) {
      throw GrammarException.tooLarge("a count is above " + Limits.REPEAT);
    }
    return value;
  }
}
