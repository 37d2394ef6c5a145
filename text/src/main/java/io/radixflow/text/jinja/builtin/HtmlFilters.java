package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.Markup;
import io.radixflow.text.jinja.value.Printing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Filters that escape, mark and clean HTML. */
final class HtmlFilters {
  private static final String[][] ENTITIES = {
    {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#34;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}
  };

  private HtmlFilters() {}

  static void register(Map<String, Invocable> filters) {
    filters.put("e", HtmlFilters::escape);
    filters.put("escape", HtmlFilters::escape);
    filters.put(
        "safe", (budget, a) -> new Markup(Printing.str(budget, a.bind("safe", 1, "value")[0])));
    filters.put("striptags", HtmlFilters::stripTags);
    filters.put("urlencode", HtmlFilters::urlEncode);
  }

  private static Object escape(Budget budget, Arguments arguments) {
    Object value = arguments.bind("escape", 1, "s")[0];
    return value instanceof Markup
        ? value
        : new Markup(Markup.escape(budget, Printing.str(budget, value)));
  }

  private static Object stripTags(Budget budget, Arguments arguments) {
    String text = Printing.str(budget, arguments.bind("striptags", 1, "value")[0]);
    budget.chars(3L * text.length());
    text = without(without(text, "<!--", "-->"), "<", ">");
    List<String> words =
        StringSplitting.words(budget, text, Integer.MAX_VALUE).stream()
            .map(String.class::cast)
            .toList();
    text = String.join(" ", words);
    for (String[] entity : ENTITIES) {
      text = text.replace(entity[0], entity[1]);
    }
    return text;
  }

  private static String without(String text, String open, String close) {
    StringBuilder out = new StringBuilder();
    int from = 0;
    for (int at = text.indexOf(open); at >= 0; at = text.indexOf(open, from)) {
      int end = text.indexOf(close, at);
      if (end < 0) {
        break;
      }
      out.append(text, from, at);
      from = end + close.length();
    }
    return out.append(text, from, text.length()).toString();
  }

  private static Object urlEncode(Budget budget, Arguments arguments) {
    String text = StringMethods.text("urlencode", arguments.bind("urlencode", 1, "value")[0]);
    budget.chars(9L * text.length());
    StringBuilder out = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      boolean kept = b > 0 && (Character.isLetterOrDigit(b) || "_.-~/".indexOf(b) >= 0);
      out.append(kept ? Character.toString(b) : String.format("%%%02X", b & 0xFF));
    }
    return out.toString();
  }
}
