package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;

/** Decodes the escapes in a template's strings, which are the same as in Python. */
final class StringLiteral {
  private static final String ESCAPES = "abfnrtv\\'\"";
  private static final String CHARACTERS = "\u0007\b\f\n\r\t\u000b\\'\"";

  private final String text;
  private final StringBuilder out = new StringBuilder();
  private int at;

  private StringLiteral(String text) {
    this.text = text;
  }

  static String unescape(String text) {
    return text.indexOf('\\') < 0 ? text : new StringLiteral(text).unescape();
  }

  private String unescape() {
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != '\\') {
        out.append(c);
      } else if (at < text.length()) {
        escape(text.charAt(at++));
      } else {
        throw JinjaException.value("\\ at end of string");
      }
    }
    return out.toString();
  }

  private void escape(char c) {
    int simple = ESCAPES.indexOf(c);
    if (simple >= 0) {
      out.append(CHARACTERS.charAt(simple));
    } else if (c >= '0' && c <= '7') {
      int value = c - '0';
      for (int i = 0;
          i < 2 && at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '7';
          i++) {
        value = value * 8 + text.charAt(at++) - '0';
      }
      out.appendCodePoint(value);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      throw JinjaException.value("the escape \\N is not supported");
    } else if (c == '\n') {
      return; // the string continues on the next line
    } else {
      out.append('\\').append(c);
    }
  }

  private void hex(int digits) {
    int end = at + digits;
    if (end > text.length()
        || !text.substring(at, end).chars().allMatch(c -> Character.digit(c, 16) >= 0)) {
      throw JinjaException.value("truncated escape of %d hexadecimal digits", digits);
    }
    long value = Long.parseLong(text.substring(at, end), 16);
    if (value > Character.MAX_CODE_POINT) {
      throw JinjaException.value("illegal Unicode character");
    }
    out.appendCodePoint((int) value);
    at = end;
  }
}
