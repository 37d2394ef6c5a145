package io.radixflow.text.reply.json;

/** Escapes text for JSON strings. */
public final class JsonStrings {

  private JsonStrings() {}

  public static void append(StringBuilder out, CharSequence text, int from, int end) {
    for (int i = from; i < end; i++) {
      append(out, text.charAt(i));
    }
  }

  public static void append(StringBuilder out, char c) {
    switch (c) {
      case '"' -> out.append("\\\"");
      case '\\' -> out.append("\\\\");
      case '\n' -> out.append("\\n");
      case '\r' -> out.append("\\r");
      case '\t' -> out.append("\\t");
      default -> {
        if (c < ' ') {
          out.append("\\u00").append(c < 16 ? '0' : '1').append(Character.forDigit(c % 16, 16));
        } else {
          out.append(c);
        }
      }
    }
  }

  public static String quote(String text) {
    StringBuilder out = new StringBuilder(text.length() + 2).append('"');
    append(out, text, 0, text.length());
    return out.append('"').toString();
  }
}
