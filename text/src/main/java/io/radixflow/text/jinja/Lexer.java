package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Token.Type;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.PythonText;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits a template into tokens, with the white space rules of {@code trim_blocks} and {@code
 * lstrip_blocks}.
 */
final class Lexer {
  private static final String SPACE =
      "[\\s\\x1c-\\x1f\\x85\\xa0\\u2000-\\u200a\\u2028\\u2029\\u3000]*";
  private static final Pattern RAW_BEGIN =
      Pattern.compile("\\{%[-+]?" + SPACE + "raw" + SPACE + "(?:(-)%\\}|%\\})");
  private static final Pattern RAW_END =
      Pattern.compile("\\{%([-+]?)" + SPACE + "endraw" + SPACE + "([-+]?)%\\}");
  private static final Pattern FLOAT =
      Pattern.compile("(?<!\\.)\\d+(?:\\.\\d+(?:[eE][+-]?\\d+)?|[eE][+-]?\\d+)");
  private static final Pattern INTEGER = Pattern.compile("\\d+");
  private static final List<String> OPERATORS =
      List.of(
          "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{",
          "}", ">", "<", "=", ".", ":", "|", ",", ";");

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private int counted;
  private boolean lineStarts = true;

  private Lexer(String source) {
    this.source = source;
  }

  static List<Token> tokens(String template) {
    String source = template.replace("\r\n", "\n").replace('\r', '\n');
    if (source.endsWith("\n")) {
      source = source.substring(0, source.length() - 1);
    }
    Lexer lexer = new Lexer(source);
    lexer.run();
    return lexer.tokens;
  }

  private void run() {
    while (at < source.length()) {
      int tag = nextTag();
      if (tag < 0) {
        data(source.substring(at));
        at = source.length();
        break;
      }
      char kind = source.charAt(tag + 1);
      Matcher raw = RAW_BEGIN.matcher(source).region(tag, source.length());
      char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : 0;
      textBefore(source.substring(at, tag), sign, kind == '{');
      at = tag;
      if (kind == '%' && raw.lookingAt()) {
        raw(raw);
      } else {
        at = tag + (sign == '-' || sign == '+' ? 3 : 2);
        tag(kind);
      }
    }
    add(Type.END, "");
  }

  private int nextTag() {
    for (int i = source.indexOf('{', at); i >= 0; i = source.indexOf('{', i + 1)) {
      if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return -1;
  }

  private void tag(char kind) {
    if (kind == '#') {
      comment();
    } else {
      add(kind == '{' ? Type.VARIABLE_BEGIN : Type.BLOCK_BEGIN, "");
      expression(kind == '{');
    }
  }

  /**
   * Adds the text before a tag, without the white space that the tag's sign or {@code
   * lstrip_blocks} removes.
   */
  private void textBefore(String text, char sign, boolean variable) {
    String kept = text;
    if (sign == '-') {
      kept = PythonText.strip(text, null, false, true);
    } else if (sign != '+' && !variable) {
      int lineStart = text.lastIndexOf('\n') + 1;
      boolean blank = text.substring(lineStart).chars().allMatch(PythonText::isSpace);
      if (blank && (lineStart > 0 || lineStarts)) {
        kept = text.substring(0, lineStart);
      }
    }
    data(kept);
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      add(Type.DATA, text);
    }
  }

  private void add(Type type, String value) {
    for (; counted < at && counted < source.length(); counted++) {
      line += source.charAt(counted) == '\n' ? 1 : 0;
    }
    tokens.add(new Token(type, value, line));
  }

  private void comment() {
    int end = source.indexOf("#}", at);
    if (end < 0) {
      throw failure("Missing end of comment tag");
    }
    char sign = end > at ? source.charAt(end - 1) : 0;
    at = end + 2;
    afterTag(sign, true);
  }

  /** Skips the text that the end of a tag removes: white space or a line break. */
  private void afterTag(char sign, boolean trims) {
    if (sign == '-') {
      while (at < source.length() && PythonText.isSpace(source.charAt(at))) {
        at++;
      }
    } else if (sign != '+' && trims && source.startsWith("\n", at)) {
      at++;
    }
    lineStarts = source.charAt(at - 1) == '\n';
  }

  private void raw(Matcher begin) {
    at = begin.end();
    afterTag(begin.group(1) == null ? 0 : '-', false);
    Matcher end = RAW_END.matcher(source);
    if (!end.find(at)) {
      throw failure("Missing end of raw directive");
    }
    char sign = end.group(1).isEmpty() ? 0 : end.group(1).charAt(0);
    textBefore(source.substring(at, end.start()), sign, false);
    at = end.end();
    afterTag(end.group(2).isEmpty() ? 0 : end.group(2).charAt(0), true);
  }

  private JinjaException failure(String reason) {
    add(Type.END, "");
    return JinjaException.of("TemplateSyntaxError", "%s", reason).at(line);
  }

  private void expression(boolean variable) {
    Deque<Character> open = new ArrayDeque<>();
    while (true) {
      while (at < source.length() && PythonText.isSpace(source.charAt(at))) {
        at++;
      }
      if (at >= source.length()) {
        return;
      }
      if (open.isEmpty() && end(variable)) {
        return;
      }
      token(open);
    }
  }

  private boolean end(boolean variable) {
    String close = variable ? "}}" : "%}";
    char first = source.charAt(at);
    boolean signed = first == '-' || first == '+' && !variable;
    if (!source.startsWith(close, signed ? at + 1 : at)) {
      return false;
    }
    add(variable ? Type.VARIABLE_END : Type.BLOCK_END, "");
    at += signed ? 3 : 2;
    afterTag(signed ? first : 0, !variable);
    return true;
  }

  private void token(Deque<Character> open) {
    char c = source.charAt(at);
    if (c >= '0' && c <= '9') {
      number();
    } else if (c == '_' || Character.isLetterOrDigit(source.codePointAt(at))) {
      name();
    } else if (c == '\'' || c == '"') {
      string(c);
    } else {
      operator(open);
    }
  }

  private void number() {
    Matcher m = FLOAT.matcher(source).region(at, source.length()).useTransparentBounds(true);
    Type type = Type.FLOAT;
    if (!m.lookingAt()) {
      type = Type.INTEGER;
      m = INTEGER.matcher(source).region(at, source.length());
      m.lookingAt();
    }
    add(type, m.group());
    at = m.end();
  }

  private void name() {
    int end = at;
    while (end < source.length()
        && (source.charAt(end) == '_'
            || Character.isUnicodeIdentifierPart(source.codePointAt(end))
                && !Character.isIdentifierIgnorable(source.codePointAt(end)))) {
      end += Character.charCount(source.codePointAt(end));
    }
    String name = source.substring(at, Math.max(end, at + 1));
    if (!Character.isUnicodeIdentifierStart(name.codePointAt(0)) && name.charAt(0) != '_') {
      throw failure("Invalid character in identifier");
    }
    add(Type.NAME, name);
    at = end;
  }

  private void string(char quote) {
    int end = at + 1;
    while (end < source.length() && source.charAt(end) != quote) {
      end += source.charAt(end) == '\\' ? 2 : 1;
    }
    if (end >= source.length()) {
      throw failure("unexpected char '" + quote + "'");
    }
    try {
      add(Type.STRING, StringLiteral.unescape(source.substring(at + 1, end)));
    } catch (JinjaException e) {
      throw failure(e.reason());
    }
    at = end + 1;
  }

  private void operator(Deque<Character> open) {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        balance(operator.charAt(0), open);
        add(Type.OPERATOR, operator);
        at += operator.length();
        return;
      }
    }
    throw failure("unexpected char '" + Character.toString(source.codePointAt(at)) + "'");
  }

  private void balance(char c, Deque<Character> open) {
    int opening = "({[".indexOf(c);
    if (opening >= 0) {
      open.push(")}]".charAt(opening));
    } else if (")}]".indexOf(c) >= 0 && (open.isEmpty() || open.pop() != c)) {
      throw failure("unexpected '" + c + "'");
    }
  }
}
