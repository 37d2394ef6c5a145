package io.radixflow.text.reply.json;

import java.util.List;

/**
 * Reads a text whose end may still be missing, to decide whether it has a certain form.
 *
 * <p>If the scan is starved or has failed, every method does nothing. A scan starves if only more
 * text can decide, and fails beyond its limit. So its outcome depends only on the characters that
 * it read, not on how much text was available.
 */
public final class Scan {

  /** OpenAI's clients allow names of functions with up to 64 characters. This limit is larger. */
  private static final int WORD = 256;

  private final CharSequence text;
  private final int limit;
  private int at;
  private boolean starved;
  private boolean failed;

  public Scan(CharSequence text, int from, int bound) {
    this.text = text;
    this.at = from;
    this.limit = from + bound;
  }

  public static boolean isSpace(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }

  public int at() {
    return at;
  }

  /** Goes back to an earlier position of this scan. */
  public void back(int position) {
    at = position;
  }

  /** Returns whether more text is needed to decide. */
  public boolean starved() {
    return starved;
  }

  public boolean going() {
    return !starved && !failed;
  }

  /** Fails. Returns null, for callers that return what they read. */
  public <T> T fail() {
    failed = true;
    return null;
  }

  /** Returns the next character without reading it; -1 if the scan has failed or is starved. */
  public int peek() {
    return has(0) ? text.charAt(at) : -1;
  }

  /** Returns the text read since a position. */
  public String since(int from) {
    return text.subSequence(from, at).toString();
  }

  /** Reads {@code expected} if it comes next. */
  public boolean literal(String expected) {
    for (int i = 0; i < expected.length(); i++) {
      if (!has(i) || text.charAt(at + i) != expected.charAt(i)) {
        return false;
      }
    }
    at += expected.length();
    return true;
  }

  /** Reads the first of the texts that comes next here. */
  public boolean any(List<String> expected) {
    for (String text : expected) {
      if (literal(text)) {
        return true;
      }
    }
    return false;
  }

  /** Reads the end of a list, which may be missing, and one of the texts that may follow it. */
  public boolean closeList(List<String> closers) {
    int from = at;
    space();
    boolean closed = literal("]");
    int end = closed ? at : from;
    if (!closers.isEmpty() && space() && any(closers)) {
      return true;
    }
    at = end;
    return closed && going();
  }

  /** Skips optional white space. It must not be the last thing that a scan reads. */
  public boolean space() {
    while (has(0) && isSpace(text.charAt(at))) {
      at++;
    }
    return going();
  }

  /** Skips white space and some other characters. */
  public void skip(String characters) {
    while (has(0) && (isSpace(text.charAt(at)) || characters.indexOf(text.charAt(at)) >= 0)) {
      at++;
    }
  }

  /**
   * Reads a name of letters, digits and {@code _-.:/}; null if there is no name or it is too long.
   */
  public String word() {
    int from = at;
    while (has(0) && isWord(text.charAt(at))) {
      at++;
    }
    return going() && at > from && at - from <= WORD ? text.subSequence(from, at).toString() : null;
  }

  /** Reads up to and including a delimiter; null if the text before it is empty. */
  public String until(String delimiter) {
    int from = at;
    while (going() && !literal(delimiter)) {
      if (has(0)) {
        at++;
      }
    }
    int end = at - delimiter.length();
    return going() && end > from ? text.subSequence(from, end).toString() : null;
  }

  /** Reads a JSON string and returns its value; null if the text here is not a string. */
  public String string() {
    return quoted('"');
  }

  /**
   * Reads a string in double or single quotes, or a word without quotes; null if there is neither.
   */
  public String text() {
    int first = peek();
    if (first == '"' || first == '\'') {
      return quoted((char) first);
    }
    int from = at;
    while (has(0) && isWord(text.charAt(at)) && text.charAt(at) != ':') {
      at++;
    }
    return going() && at > from && at - from <= WORD ? text.subSequence(from, at).toString() : null;
  }

  private String quoted(char quote) {
    if (!literal(String.valueOf(quote))) {
      return null;
    }
    StringBuilder value = new StringBuilder();
    while (has(0)) {
      char c = text.charAt(at++);
      if (c == quote) {
        return value.toString();
      }
      if (c == '\\') {
        c = escape();
      }
      value.append(c);
    }
    return null;
  }

  private char escape() {
    if (!has(0)) {
      return 0;
    }
    char c = text.charAt(at++);
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'u':
        int code = 0;
        for (int i = 0; i < 4 && has(0); i++) {
          code = code * 16 + Math.max(0, Character.digit(text.charAt(at++), 16));
        }
        return (char) code;
      default:
        return c;
    }
  }

  /** Skips a JSON value. Returns false if the text here is not a JSON value. */
  public boolean value() {
    int c = peek();
    if (c == '"' || c == '\'') {
      return quoted((char) c) != null;
    }
    if (c != '{' && c != '[') {
      return scalar() != null;
    }
    LenientJson json = new LenientJson();
    while (has(0)) {
      json.accept(text.charAt(at++));
      if (json.done()) {
        return true;
      }
      if (json.broken()) {
        failed = true;
      }
    }
    return false;
  }

  private String scalar() {
    int from = at;
    while (has(0) && (isWord(text.charAt(at)) || text.charAt(at) == '+')) {
      at++;
    }
    return going() && at > from ? text.subSequence(from, at).toString() : fail();
  }

  private static boolean isWord(char c) {
    return c < 128 && Character.isLetterOrDigit(c) || "_-.:/".indexOf(c) >= 0;
  }

  private boolean has(int offset) {
    if (!going()) {
      return false;
    }
    if (at + offset >= limit) {
      failed = true;
    } else if (at + offset >= text.length()) {
      starved = true;
    }
    return going();
  }
}
