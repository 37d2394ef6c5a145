package io.radixflow.text.jinja.value;

/** Operations on texts in Python's units: code points, with Python's white space. */
public final class PythonText {

  private PythonText() {}

  /**
   * Returns the index in chars of the code point with number {@code index}, which must exist or be
   * the end.
   */
  public static int offset(String text, int index) {
    return text.offsetByCodePoints(0, index);
  }

  /** Returns the code points from index {@code from} to before {@code to}. */
  public static String slice(String text, int from, int to) {
    int start = text.offsetByCodePoints(0, from);
    return text.substring(start, text.offsetByCodePoints(start, to - from));
  }

  /** Returns Python's {@code isspace} for a character. */
  public static boolean isSpace(int c) {
    return c == ' '
        || c >= 0x09 && c <= 0x0D
        || c >= 0x1C && c <= 0x1F
        || c == 0x85
        || c >= 0xA0 && Character.isSpaceChar(c);
  }

  /**
   * Removes characters at the ends of a text.
   *
   * @param characters the characters to remove; null for white space
   */
  public static String strip(String text, String characters, boolean left, boolean right) {
    int from = 0;
    int to = text.length();
    while (left && from < to && removes(text.codePointAt(from), characters)) {
      from += Character.charCount(text.codePointAt(from));
    }
    while (right && from < to && removes(text.codePointBefore(to), characters)) {
      to -= Character.charCount(text.codePointBefore(to));
    }
    return text.substring(from, to);
  }

  private static boolean removes(int c, String characters) {
    return characters == null ? isSpace(c) : characters.indexOf(c) >= 0;
  }

  /** Returns whether a character ends a line for Python's {@code splitlines}. */
  public static boolean endsLine(char c) {
    return c >= 0x0A && c <= 0x0D
        || c >= 0x1C && c <= 0x1E
        || c == 0x85
        || c == '\u2028'
        || c == '\u2029';
  }
}
