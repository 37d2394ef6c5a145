package io.radixflow.text.jinja.value;

/** A text that is already escaped for HTML. Text that is added to it is escaped. */
public record Markup(String text) {

  /** Escapes a text for HTML. */
  public static String escape(Budget budget, String text) {
    budget.chars(text.length());
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&#34;");
        case '\'' -> out.append("&#39;");
        default -> out.append(c);
      }
    }
    budget.chars(out.length());
    return out.toString();
  }
}
