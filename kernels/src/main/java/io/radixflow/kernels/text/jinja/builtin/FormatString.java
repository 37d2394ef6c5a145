package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.Dict;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Printing;
import io.radixflow.kernels.text.jinja.value.Undefined;
import io.radixflow.kernels.text.jinja.value.Values;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Python's {@code str.format}, with the sandbox's rules for attributes. */
final class FormatString {
  private static final int DEEPEST = 2;

  private final Budget budget;
  private final List<Object> positional;
  private final Map<String, Object> named;
  private int next;

  /** Whether fields are numbered by their order; null before the first one. */
  private Boolean automatic;

  private FormatString(Budget budget, List<Object> positional, Map<String, Object> named) {
    this.budget = budget;
    this.positional = positional;
    this.named = named;
  }

  static Object format(Budget budget, Arguments arguments) {
    Arguments rest = arguments.from(1);
    return new FormatString(budget, rest.positional(), rest.named())
        .expand(Values.text(arguments.positional().get(0)), DEEPEST);
  }

  static Object formatMap(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("format_map", 2, 2);
    if (!(a[1] instanceof Dict dict)) {
      throw JinjaException.type("format_map() needs a mapping");
    }
    Map<String, Object> named = new HashMap<>();
    for (Object key : dict.keys()) {
      if (key instanceof String name) {
        named.put(name, dict.get(key));
      }
    }
    return new FormatString(budget, List.of(), named).expand(Values.text(a[0]), DEEPEST);
  }

  private String expand(String text, int depth) {
    if (depth == 0) {
      throw JinjaException.value("Max string recursion exceeded");
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c == '{' || c == '}') && i + 1 < text.length() && text.charAt(i + 1) == c) {
        i++;
      } else if (c == '}') {
        throw JinjaException.value("Single '}' encountered in format string");
      } else if (c == '{') {
        int close = close(text, i);
        String field = replaced(text.substring(i + 1, close), depth);
        budget.chars(field.length());
        out.append(field);
        i = close;
        continue;
      }
      budget.chars(1);
      out.append(c);
    }
    return out.toString();
  }

  private static int close(String text, int open) {
    int depth = 0;
    for (int i = open; i < text.length(); i++) {
      depth += text.charAt(i) == '{' ? 1 : text.charAt(i) == '}' ? -1 : 0;
      if (depth == 0) {
        return i;
      }
    }
    throw JinjaException.value("expected '}' before end of string");
  }

  private String replaced(String field, int depth) {
    int end = 0;
    while (end < field.length() && field.charAt(end) != ':' && field.charAt(end) != '!') {
      end = field.charAt(end) == '[' ? Math.max(end, field.indexOf(']', end)) + 1 : end + 1;
    }
    Object value = lookup(field.substring(0, Math.min(end, field.length())));
    String rest = field.substring(Math.min(end, field.length()));
    if (rest.startsWith("!")) {
      if (rest.length() < 2 || rest.length() > 2 && rest.charAt(2) != ':') {
        throw JinjaException.value("expected ':' after conversion specifier");
      }
      value =
          switch (rest.charAt(1)) {
            case 's' -> Printing.str(budget, value);
            case 'r' -> Printing.repr(budget, value);
            case 'a' -> PercentFormat.ascii(Printing.repr(budget, value));
            default -> throw JinjaException.value("Unknown conversion specifier");
          };
      rest = rest.substring(2);
    }
    String spec = rest.isEmpty() ? "" : expand(rest.substring(1), depth - 1);
    return FormatSpec.format(budget, value, spec);
  }

  private Object lookup(String path) {
    int end = 0;
    while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
      end++;
    }
    Object value = argument(path.substring(0, end));
    while (end < path.length()) {
      int start = end + 1;
      boolean bracket = path.charAt(end) == '[';
      end = start;
      while (end < path.length()
          && (bracket ? path.charAt(end) != ']' : ".[".indexOf(path.charAt(end)) < 0)) {
        end++;
      }
      String name = path.substring(start, end);
      if (name.isEmpty()) {
        throw JinjaException.value("Empty attribute in format string");
      }
      boolean index = bracket && name.chars().allMatch(Character::isDigit) && name.length() < 10;
      value =
          bracket
              ? Attributes.item(value, index ? (Object) Long.valueOf(name) : name)
              : Attributes.attribute(value, name);
      if (value instanceof Undefined undefined) {
        throw undefined.failure();
      }
      end += bracket ? 1 : 0;
    }
    return value;
  }

  private Object argument(String name) {
    boolean unnamed = name.isEmpty();
    if (unnamed || name.chars().allMatch(Character::isDigit)) {
      if (automatic != null && automatic != unnamed) {
        throw JinjaException.value("cannot mix automatic and manual field numbering");
      }
      automatic = unnamed;
      int index = unnamed ? next++ : name.length() > 9 ? Integer.MAX_VALUE : Integer.parseInt(name);
      if (index >= positional.size()) {
        throw JinjaException.of("IndexError", "Replacement index %d out of range", index);
      }
      return positional.get(index);
    }
    if (!named.containsKey(name)) {
      throw JinjaException.of("KeyError", "'%s'", name);
    }
    return named.get(name);
  }
}
