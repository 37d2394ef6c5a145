package io.radixflow.kernels.text.template;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewrites what jinjava parses otherwise than Jinja2, keeping the meaning: {@code list[::-1]}, and
 * values of {@code namespace(name=a - b)}, where jinjava binds the name tighter than the operator.
 */
final class JinjaDialect {

  private static final Pattern REVERSED = Pattern.compile("\\b([A-Za-z_][\\w.]*)\\[::-1]");
  private static final String NAMESPACE = "namespace(";
  private static final Pattern NAMED = Pattern.compile("\\s*\\w+\\s*=(?!=)");

  private JinjaDialect() {}

  /** The template as jinjava needs it. */
  static String toJinjava(String template) {
    String reversed = REVERSED.matcher(template).replaceAll("($1|reverse|list)");
    StringBuilder out = new StringBuilder(reversed.length() + 64);
    int from = 0;
    for (int at = reversed.indexOf(NAMESPACE); at >= 0; at = reversed.indexOf(NAMESPACE, from)) {
      int open = at + NAMESPACE.length();
      int close = scan(reversed, open, ')');
      out.append(reversed, from, open);
      wrapValues(reversed.substring(open, close), out);
      from = close;
    }
    return out.append(reversed, from, reversed.length()).toString();
  }

  private static void wrapValues(String arguments, StringBuilder out) {
    int from = 0;
    while (from <= arguments.length()) {
      int comma = scan(arguments, from, ',');
      String argument = arguments.substring(from, comma);
      Matcher named = NAMED.matcher(argument);
      if (named.lookingAt()) {
        out.append(named.group()).append('(').append(argument, named.end(), argument.length());
        out.append(')');
      } else {
        out.append(argument);
      }
      if (comma < arguments.length()) {
        out.append(',');
      }
      from = comma + 1;
    }
  }

  /** The next position of a character outside of quotes and inner brackets, or the end. */
  private static int scan(String text, int from, char wanted) {
    int depth = 0;
    char quote = 0;
    for (int i = from; i < text.length(); i++) {
      char c = text.charAt(i);
      if (quote != 0) {
        if (c == '\\') {
          i++;
        } else if (c == quote) {
          quote = 0;
        }
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (depth == 0 && c == wanted) {
        return i;
      } else if (c == '(' || c == '[' || c == '{') {
        depth++;
      } else if (c == ')' || c == ']' || c == '}') {
        depth--;
      }
    }
    return text.length();
  }
}
