package io.radixflow.text.jinja.builtin;

import static io.radixflow.text.jinja.value.Arguments.or;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.List;

/** The filter {@code tojson}, which is Python's {@code json.dumps}. */
final class JsonFilter {
  private final Budget budget;
  private final boolean ascii;
  private final boolean sortsKeys;
  private final String indent;
  private final String comma;
  private final String colon;
  private final StringBuilder out = new StringBuilder();

  private JsonFilter(Budget budget, Object[] a) {
    this.budget = budget;
    ascii = Values.truth(or(a[1], false));
    sortsKeys = Values.truth(or(a[4], false));
    indent = indent(budget, or(a[2], null));
    List<Object> separators = or(a[3], null) == null ? null : Values.list(budget, a[3]);
    if (separators != null && separators.size() != 2) {
      throw JinjaException.value("tojson needs two separators");
    }
    comma =
        separators != null
            ? StringMethods.text("tojson", separators.get(0))
            : indent == null ? ", " : ",";
    colon = separators != null ? StringMethods.text("tojson", separators.get(1)) : ": ";
  }

  private static String indent(Budget budget, Object indent) {
    if (indent == null || Values.isText(indent)) {
      return indent == null ? null : Values.text(indent);
    }
    int width = Math.max(0, Numbers.index(indent));
    budget.chars(width);
    return " ".repeat(width);
  }

  static Object filter(Budget budget, Arguments arguments) {
    Object[] a =
        arguments.bind("tojson", 1, "x", "ensure_ascii", "indent", "separators", "sort_keys");
    JsonFilter json = new JsonFilter(budget, a);
    json.write(a[0], 0);
    return json.out.toString();
  }

  private void put(String text) {
    budget.chars(text.length());
    out.append(text);
  }

  private void write(Object value, int depth) {
    if (value == null) {
      put("null");
    } else if (value instanceof Boolean flag) {
      put(flag ? "true" : "false");
    } else if (Values.isText(value)) {
      quote(Values.text(value));
    } else if (value instanceof Number number) {
      put(number(number));
    } else if (value instanceof Dict dict) {
      writeDict(dict, depth + 1);
    } else if (value instanceof List<?> list) {
      writeList(list, depth + 1);
    } else if (value instanceof Tuple tuple) {
      writeList(tuple.items(), depth + 1);
    } else {
      throw JinjaException.type("Object of type %s is not JSON serializable", Values.type(value));
    }
  }

  private static String number(Number number) {
    if (!(number instanceof Double real)) {
      return number.toString();
    }
    return real.isNaN()
        ? "NaN"
        : real.isInfinite() ? (real > 0 ? "Infinity" : "-Infinity") : Printing.number(real);
  }

  private void line(int depth) {
    if (indent != null) {
      budget.chars((long) indent.length() * depth + 1);
      out.append('\n').append(indent.repeat(depth));
    }
  }

  private void writeList(List<?> items, int depth) {
    if (items.isEmpty()) {
      put("[]");
      return;
    }
    budget.enter();
    put("[");
    for (int i = 0; i < items.size(); i++) {
      put(i > 0 ? comma : "");
      line(depth);
      write(items.get(i), depth);
    }
    line(depth - 1);
    put("]");
    budget.leave();
  }

  private void writeDict(Dict dict, int depth) {
    if (dict.size() == 0) {
      put("{}");
      return;
    }
    budget.enter();
    put("{");
    List<Object> items = dict.items();
    if (sortsKeys) {
      items = Comparison.sorted(budget, items, new ArrayList<>(dict.keys()), false);
    }
    boolean first = true;
    for (Object item : items) {
      put(first ? "" : comma);
      line(depth);
      quote(key(((Tuple) item).items().get(0)));
      put(colon);
      write(((Tuple) item).items().get(1), depth);
      first = false;
    }
    line(depth - 1);
    put("}");
    budget.leave();
  }

  private static String key(Object key) {
    if (key == null) {
      return "null";
    } else if (key instanceof Boolean flag) {
      return flag ? "true" : "false";
    } else if (key instanceof Number number) {
      return number(number);
    } else if (!Values.isText(key)) {
      throw JinjaException.type(
          "keys must be str, int, float, bool or None, not %s", Values.type(key));
    }
    return Values.text(key);
  }

  private void quote(String text) {
    budget.chars(text.length() + 2L);
    int before = out.length();
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\f' -> out.append("\\f");
        case '\b' -> out.append("\\b");
        default -> {
          if (c < 0x20 || ascii && c > 0x7E) {
            out.append(c == 0x7F ? "\u007f" : String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
    budget.chars(Math.max(0, out.length() - before - text.length()));
  }
}
