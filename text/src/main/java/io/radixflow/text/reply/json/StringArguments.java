package io.radixflow.text.reply.json;

/**
 * Arguments that are written as a JSON string which contains the JSON. The content of the string is
 * passed on as it arrives. An empty string becomes {@code {}}.
 */
public final class StringArguments implements CallArguments {

  private static final String ESCAPES = "ntrbf";
  private static final String ESCAPED = "\n\t\r\b\f";

  private final LenientJson json = new LenientJson();
  private boolean blank = true;
  private boolean done;

  @Override
  public State state() {
    return done ? State.DONE : State.OPEN;
  }

  @Override
  public int read(CharSequence text, int from, StringBuilder out) {
    int at = from;
    while (at < text.length() && !done) {
      char c = text.charAt(at);
      if (c == '"') {
        done = true;
        if (blank) {
          out.append("{}");
        }
        return at + 1;
      }
      int length = c != '\\' ? 1 : at + 1 < text.length() && text.charAt(at + 1) == 'u' ? 6 : 2;
      if (at + length > text.length()) {
        return at;
      }
      give(length == 1 ? c : unescape(text, at, length), out);
      at += length;
    }
    return at;
  }

  private static char unescape(CharSequence text, int at, int length) {
    char c = text.charAt(at + 1);
    if (length == 2) {
      int plain = ESCAPES.indexOf(c);
      return plain < 0 ? c : ESCAPED.charAt(plain);
    }
    int code = 0;
    for (int i = at + 2; i < at + length; i++) {
      code = code * 16 + Math.max(0, Character.digit(text.charAt(i), 16));
    }
    return (char) code;
  }

  private void give(char c, StringBuilder out) {
    blank &= Scan.isSpace(c);
    boolean inString = json.inString();
    if (!json.done() && !json.broken()) {
      json.accept(c);
    }
    if (inString && (c < ' ' || Character.isSurrogate(c))) {
      append(out, c);
    } else if (!blank) {
      out.append(c);
    }
  }

  /** Writes half of a surrogate pair as an escape, because the other half may be missing. */
  private static void append(StringBuilder out, char c) {
    if (c < ' ') {
      JsonStrings.append(out, c);
    } else {
      out.append("\\u").append(Integer.toHexString(c));
    }
  }
}
