package io.radixflow.text.regex;

/** The text of a regular expression, with the position of reading. */
final class RegexSource {
  final String text;
  int at;

  RegexSource(String text) {
    this.text = text;
  }

  RegexException error(String message) {
    return new RegexException("the regular expression is invalid: " + message, at);
  }

  RegexException unsupported(String what) {
    return new RegexException(what + " is not supported in regular expressions", at);
  }

  boolean more() {
    return at < text.length();
  }

  int peek() {
    return at < text.length() ? text.codePointAt(at) : -1;
  }

  boolean startsWith(String expected) {
    return text.startsWith(expected, at);
  }

  boolean skip(String expected) {
    boolean there = startsWith(expected);
    at += there ? expected.length() : 0;
    return there;
  }

  int take() {
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

  /** Reads a bounded decimal number; -1 if there is none. */
  int decimal() {
    int from = at;
    long value = 0;
    while (more() && peek() >= '0' && peek() <= '9') {
      value = Math.min(value * 10 + take() - '0', Integer.MAX_VALUE);
    }
    return at == from ? -1 : (int) value;
  }

  /** Reads {@code digits} hexadecimal digits. If there are fewer, returns -1 and does not move. */
  int hex(int digits) {
    int value = 0;
    for (int i = at; i < at + digits; i++) {
      int digit = i < text.length() ? Character.digit(text.charAt(i), 16) : -1;
      if (digit < 0) {
        return -1;
      }
      value = value > 0xFFFFFF ? value : value << 4 | digit;
    }
    at += digits;
    return value;
  }

  /** Reads hexadecimal digits in braces. If there are none, returns -1 and does not move. */
  int braced() {
    int from = at;
    int end = peek() == '{' ? text.indexOf('}', at) : -1;
    if (end < at + 2 || end > at + 10) {
      return -1;
    }
    at++;
    int value = hex(end - at);
    at = value < 0 ? from : at + 1;
    return value;
  }

  /** The name of a class of characters after {@code p}, or null. */
  String className(boolean single) {
    int end = peek() == '{' ? text.indexOf('}', at) : -1;
    if (end > at && end - at < 64) {
      String name = text.substring(at + 1, end);
      at = end + 1;
      return name;
    }
    return single && peek() != '{' ? Character.toString(take()) : null;
  }

  /** The set of a class by its name. */
  CodePoints property(boolean single) {
    String name = className(single);
    if (name == null) {
      throw error("the name of a class does not end");
    }
    boolean negated = single && name.startsWith("^");
    CodePoints set = UnicodeNames.property(negated ? name.substring(1) : name);
    if (set == null) {
      throw error("there is no class " + name);
    }
    return negated ? set.negate() : set;
  }
}
