package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.Dict;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Markup;
import io.radixflow.kernels.text.jinja.value.Printing;
import io.radixflow.kernels.text.jinja.value.Tuple;
import io.radixflow.kernels.text.jinja.value.Undefined;
import io.radixflow.kernels.text.jinja.value.Values;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Filters for HTML and addresses. */
final class HtmlFilters {
  private static final Map<String, String> ENTITIES =
      Map.of("amp", "&", "lt", "<", "gt", ">", "quot", "\"", "apos", "'", "nbsp", "\u00a0");

  private HtmlFilters() {}

  static void register(Map<String, Invocable> filters) {
    Invocable escape = (budget, a) -> escape(budget, a.bind("escape", 1, "s")[0]);
    filters.put("e", escape);
    filters.put("escape", escape);
    filters.put("forceescape", HtmlFilters::forceEscape);
    filters.put(
        "safe", (budget, a) -> new Markup(Printing.str(budget, a.bind("safe", 1, "value")[0])));
    filters.put("striptags", HtmlFilters::stripTags);
    filters.put("urlencode", HtmlFilters::urlEncode);
    filters.put("xmlattr", HtmlFilters::xmlAttributes);
  }

  private static Object escape(Budget budget, Object value) {
    return value instanceof Markup
        ? value
        : new Markup(Markup.escape(budget, Printing.str(budget, value)));
  }

  private static Object forceEscape(Budget budget, Arguments arguments) {
    String text = Printing.str(budget, arguments.bind("forceescape", 1, "value")[0]);
    return new Markup(Markup.escape(budget, text));
  }

  private static Object stripTags(Budget budget, Arguments arguments) {
    String text = Printing.str(budget, arguments.bind("striptags", 1, "value")[0]);
    budget.chars(3L * text.length());
    text = without(without(text, "<!--", "-->"), "<", ">");
    List<String> words = new ArrayList<>();
    Object split = StringMethods.ALL.get("split").call(budget, Arguments.of(text));
    ((List<?>) split).forEach(word -> words.add((String) word));
    return unescaped(String.join(" ", words));
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

  private static String unescaped(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      int end = text.charAt(i) == '&' ? text.indexOf(';', i) : -1;
      String entity = end > 0 && end - i < 12 ? entity(text.substring(i + 1, end)) : null;
      out.append(entity == null ? text.substring(i, i + 1) : entity);
      i = entity == null ? i : end;
    }
    return out.toString();
  }

  private static String entity(String name) {
    if (!name.startsWith("#")) {
      return ENTITIES.get(name);
    }
    try {
      boolean hex = name.startsWith("#x") || name.startsWith("#X");
      int c = Integer.parseInt(name.substring(hex ? 2 : 1), hex ? 16 : 10);
      return c > 0 && Character.isValidCodePoint(c) ? Character.toString(c) : null;
    } catch (NumberFormatException e) {
      return null; // no number: the text stays
    }
  }

  private static Object urlEncode(Budget budget, Arguments arguments) {
    Object value = arguments.bind("urlencode", 1, "value")[0];
    if (Values.isText(value) || !Values.isIterable(value)) {
      return quoted(budget, Printing.str(budget, value), false);
    }
    StringBuilder out = new StringBuilder();
    Iterator<?> pairs =
        value instanceof Dict dict ? dict.items().iterator() : Values.iterate(value);
    while (pairs.hasNext()) {
      List<Object> pair = Values.list(budget, pairs.next());
      if (pair.size() != 2) {
        throw JinjaException.value("urlencode needs pairs");
      }
      String key = quoted(budget, Printing.str(budget, pair.get(0)), true);
      String item = quoted(budget, Printing.str(budget, pair.get(1)), true);
      budget.chars((long) key.length() + item.length() + 2);
      out.append(out.isEmpty() ? "" : "&").append(key).append('=').append(item);
    }
    return out.toString();
  }

  private static String quoted(Budget budget, String text, boolean query) {
    budget.chars(9L * text.length());
    StringBuilder out = new StringBuilder();
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      if (c < 128
          && (Character.isLetterOrDigit(c) || "_.-~".indexOf(c) >= 0 || c == '/' && !query)) {
        out.append(c);
      } else {
        out.append(query && c == ' ' ? "+" : String.format("%%%02X", (int) c));
      }
    }
    return out.toString();
  }

  private static Object xmlAttributes(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("xmlattr", 1, "d", "autospace");
    if (!(a[0] instanceof Dict dict)) {
      throw JinjaException.type("xmlattr needs a mapping");
    }
    StringBuilder out = new StringBuilder();
    for (Object item : dict.items()) {
      Object value = ((Tuple) item).items().get(1);
      String key = Printing.str(budget, ((Tuple) item).items().get(0));
      if (value == null || value instanceof Undefined) {
        continue;
      }
      if (key.codePoints()
          .anyMatch(
              c -> c == '/' || c == '>' || c == '=' || c < 128 && Character.isWhitespace(c))) {
        throw JinjaException.value("Invalid character in attribute name: '%s'", key);
      }
      String text =
          value instanceof Markup markup
              ? markup.text()
              : Markup.escape(budget, Printing.str(budget, value));
      out.append(out.isEmpty() ? "" : " ");
      out.append(Markup.escape(budget, key)).append("=\"").append(text).append('"');
      budget.chars(text.length() + 4L);
    }
    boolean space = Values.truth(Arguments.or(a[1], true)) && !out.isEmpty();
    return (space ? " " : "") + out;
  }
}
