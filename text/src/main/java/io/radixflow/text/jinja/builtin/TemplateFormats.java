package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Values;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The formats that chat templates use: {@code %s}, {@code %d} and {@code %f} with width and
 * precision, and the plain fields of {@code str.format}. Other formats are errors that name the
 * format.
 */
final class TemplateFormats {
  private static final Pattern DIRECTIVE =
      Pattern.compile("%([-0]*)(\\d{0,3})(?:\\.(\\d{1,3}))?(.?)", Pattern.DOTALL);
  private static final Pattern FIELD =
      Pattern.compile("\\{\\{|\\}\\}|\\{([^{}]*)\\}|[{}]", Pattern.DOTALL);

  private TemplateFormats() {}

  /** Returns {@code text % values}. */
  static String percent(Budget budget, String text, Object values) {
    Iterator<Object> items =
        (values instanceof Tuple tuple ? tuple.items() : Collections.singletonList(values))
            .iterator();
    StringBuilder out = new StringBuilder();
    Matcher m = DIRECTIVE.matcher(text);
    int at = 0;
    for (; m.find(); at = m.end()) {
      out.append(text, at, m.start());
      String piece = m.group().equals("%%") ? "%" : directive(budget, m, items);
      budget.chars((long) m.end() - at + piece.length());
      out.append(piece);
    }
    if (items.hasNext() && !(values instanceof Dict || values instanceof List)) {
      throw JinjaException.type("not all arguments converted during string formatting");
    }
    return out.append(text, at, text.length()).toString();
  }

  private static String directive(Budget budget, Matcher m, Iterator<Object> items) {
    if (!items.hasNext()) {
      throw JinjaException.type("not enough arguments for format string");
    }
    int precision = m.group(3) == null ? -1 : Integer.parseInt(m.group(3));
    String body = body(budget, m, items.next(), precision);
    int width = m.group(2).isEmpty() ? 0 : Integer.parseInt(m.group(2));
    int room = Math.max(0, width - Values.length(body));
    if (m.group(1).contains("-")) {
      return body + " ".repeat(room);
    } else if (m.group(1).contains("0") && !m.group(4).equals("s")) {
      String sign = body.startsWith("-") ? "-" : "";
      return sign + "0".repeat(room) + body.substring(sign.length());
    }
    return " ".repeat(room) + body;
  }

  private static String body(Budget budget, Matcher m, Object value, int precision) {
    String type = m.group(4);
    if (type.equals("s")) {
      String text = Printing.str(budget, value);
      return precision < 0 || precision >= Values.length(text)
          ? text
          : PythonText.slice(text, 0, precision);
    }
    boolean whole = type.equals("d") && precision < 0;
    if (!whole && !type.equals("f")) {
      throw JinjaException.value("the format '%s' is not supported", m.group());
    } else if (!Numbers.isNumber(value)) {
      throw JinjaException.type("%%%s needs a number, not %s", type, Values.type(value));
    } else if (whole) {
      return Long.toString(
          value instanceof Double real ? Numbers.truncated(real) : Numbers.asLong(value));
    }
    double number = Numbers.asDouble(value);
    String minus = number < 0 || 1 / number < 0 ? "-" : "";
    return Double.isFinite(number)
        ? minus
            + new BigDecimal(Math.abs(number))
                .setScale(precision < 0 ? 6 : precision, RoundingMode.HALF_EVEN)
                .toPlainString()
        : Printing.number(number);
  }

  /** Returns {@code text.format(...)}. */
  static Object braces(Budget budget, Arguments arguments) {
    String text = Values.text(arguments.positional().get(0));
    Arguments values = arguments.from(1);
    StringBuilder out = new StringBuilder();
    Matcher m = FIELD.matcher(text);
    int at = 0;
    int next = 0;
    for (; m.find(); at = m.end()) {
      out.append(text, at, m.start());
      String field = m.group(1);
      if (field == null && m.group().length() == 1) {
        throw JinjaException.value("Single '%s' encountered in format string", m.group());
      }
      String name = field != null && field.isEmpty() ? String.valueOf(next++) : field;
      String piece = field == null ? m.group().substring(1) : field(budget, name, values);
      budget.chars((long) m.end() - at + piece.length());
      out.append(piece);
    }
    return out.append(text, at, text.length()).toString();
  }

  private static String field(Budget budget, String name, Arguments values) {
    if (name.matches("\\d{1,4}")) {
      int index = Integer.parseInt(name);
      if (index >= values.positional().size()) {
        throw JinjaException.of("IndexError", "Replacement index %d out of range", index);
      }
      return Printing.str(budget, values.positional().get(index));
    } else if (!name.matches("[A-Za-z_]\\w*")) {
      throw JinjaException.value("the format '{%s}' is not supported", name);
    } else if (!values.named().containsKey(name)) {
      throw JinjaException.of("KeyError", "'%s'", name);
    }
    return Printing.str(budget, values.named().get(name));
  }
}
