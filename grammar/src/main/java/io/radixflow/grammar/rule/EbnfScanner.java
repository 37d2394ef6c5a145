package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.text.regex.CodePoints;

/** Reads the words of Lark and GBNF: names, numbers, quoted texts, operators. */
final class EbnfScanner {
  private final String text;
  private final String comment;
  private int at;

  EbnfScanner(String text, String comment) {
    this.text = text;
    this.comment = comment;
  }

  GrammarException error(String message) {
    int line =
        1
            + (int)
                text.substring(0, Math.min(at, text.length()))
                    .chars()
                    .filter(c -> c == '\n')
                    .count();
    return new GrammarException("grammar", "line " + line, "the grammar is invalid: " + message);
  }

  int position() {
    return at;
  }

  void back(int position) {
    at = position;
  }

  /** Skips blanks, line ends and comments; returns whether anything is left. */
  boolean more() {
    while (at < text.length()) {
      if (Character.isWhitespace(text.charAt(at))) {
        at++;
      } else if (text.startsWith(comment, at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
      } else {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the next word is the first of its line. */
  boolean isAtLineStart() {
    more();
    int before = at - 1;
    while (before >= 0
        && text.charAt(before) != '\n'
        && Character.isWhitespace(text.charAt(before))) {
      before--;
    }
    return before < 0 || text.charAt(before) == '\n';
  }

  boolean peek(String word) {
    return more() && text.startsWith(word, at);
  }

  boolean skip(String word) {
    boolean there = peek(word);
    at += there ? word.length() : 0;
    return there;
  }

  void expect(String word) {
    if (!skip(word)) {
      throw error("'" + word + "' is expected");
    }
  }

  /** Reads a name; returns null if there is none here. */
  String name(String further) {
    more();
    int from = at;
    while (at < text.length()
        && (isAscii(text.charAt(at)) || at > from && further.indexOf(text.charAt(at)) >= 0)) {
      at++;
    }
    return at == from ? null : text.substring(from, at);
  }

  private static boolean isAscii(char c) {
    return c == '_' || c < 128 && Character.isLetterOrDigit(c);
  }

  int number() {
    more();
    int from = at;
    long value = 0;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      value = Math.min(10 * value + text.charAt(at++) - '0', Integer.MAX_VALUE);
    }
    if (at == from) {
      throw error("a number is expected");
    }
    if (value > Limits.REPEAT) {
      throw GrammarException.tooLarge("a count is above " + Limits.REPEAT);
    }
    return (int) value;
  }

  /** Reads a quoted text after its opening quote. */
  String quoted() {
    StringBuilder value = new StringBuilder();
    while (!skipRaw('"')) {
      value.appendCodePoint(character());
    }
    return value.toString();
  }

  /** Reads the text of a JSON object. */
  String object() {
    more();
    int from = at;
    int depth = 0;
    boolean quoted = false;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        quoted = !quoted;
      } else if (quoted) {
        at += c == '\\' ? 1 : 0;
      } else if (c == '{') {
        depth++;
      } else if (c == '}' && --depth == 0) {
        return text.substring(from, at);
      }
      if (depth == 0) {
        break;
      }
    }
    throw error("a JSON object is expected");
  }

  boolean skipRaw(char c) {
    boolean there = at < text.length() && text.charAt(at) == c;
    at += there ? 1 : 0;
    return there;
  }

  /** Reads the next character of a quoted text or a set, and resolves its escape. */
  int character() {
    int value = raw();
    if (value != '\\') {
      if (value == '\n') {
        throw error("a text does not end on its line");
      }
      return value;
    }
    int escaped = raw();
    int named = "nrtfvab0".indexOf(escaped);
    if (named >= 0) {
      return "\n\r\t\f\u000B\u0007\b\0".charAt(named);
    }
    return switch (escaped) {
      case 'x' -> hex(2);
      case 'u' -> hex(4);
      case 'U' -> hex(8);
      default -> escaped;
    };
  }

  private int raw() {
    if (at >= text.length()) {
      throw error("a text does not end");
    }
    int value = text.codePointAt(at);
    at += Character.charCount(value);
    return value;
  }

  private int hex(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = Character.digit(raw(), 16);
      if (digit < 0 || value > 0xFFFFFF) {
        throw error("an escape has no hexadecimal digits");
      }
      value = value << 4 | digit;
    }
    if (value > CodePoints.MAX || value >= 0xD800 && value <= 0xDFFF) {
      throw error("an escape is not a Unicode character");
    }
    return value;
  }

  /** Reads the source of a regular expression after its opening slash, up to the closing slash. */
  String slashed() {
    int from = at;
    while (!skipRaw('/')) {
      int value = raw();
      if (value == '\n') {
        throw error("a regular expression does not end on its line");
      }
      if (value == '\\') {
        raw();
      }
    }
    return text.substring(from, at - 1);
  }

  /** Reads letters of {@code allowed} directly at this position. */
  String letters(String allowed) {
    int from = at;
    while (at < text.length() && allowed.indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return text.substring(from, at);
  }

  /**
   * Reads the counts of a repetition {@code {n}}, {@code {n,}}, {@code {,m}} or {@code {n,m}} after
   * its brace.
   */
  int[] counts() {
    int min = peek(",") ? 0 : number();
    int max = min;
    if (skip(",")) {
      max = peek("}") ? Regex.MANY : number();
    }
    expect("}");
    return checked(min, max);
  }

  int[] checked(int min, int max) {
    if (max < min) {
      throw error("a count ends before it begins");
    }
    return new int[] {min, max};
  }

  /** Reads the repetition that follows; returns null if there is none. */
  int[] repetition() {
    if (skip("*")) {
      return new int[] {0, Regex.MANY};
    }
    if (skip("+")) {
      return new int[] {1, Regex.MANY};
    }
    if (skip("?")) {
      return new int[] {0, 1};
    }
    return skip("{") ? counts() : null;
  }
}
