package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.CodePoints;
import io.radixflow.kernels.text.jinja.value.Dict;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Numbers;
import io.radixflow.kernels.text.jinja.value.Printing;
import io.radixflow.kernels.text.jinja.value.Tuple;
import io.radixflow.kernels.text.jinja.value.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code text % values}. */
final class PercentFormat {
  private static final Pattern DIRECTIVE =
      Pattern.compile(
          "%(?:\\(([^)]*)\\))?([-+ #0]*)(\\*|\\d{1,9})?(?:\\.(\\*|\\d{0,9}))?[hlL]?(.)",
          Pattern.DOTALL);

  private final Budget budget;
  private final Object values;
  private final Iterator<Object> positional;
  private boolean byName;

  private PercentFormat(Budget budget, Object values) {
    this.budget = budget;
    this.values = values;
    List<Object> items = values instanceof Tuple tuple ? tuple.items() : Arrays.asList(values);
    positional = items.iterator();
  }

  static String format(Budget budget, String text, Object values) {
    return new PercentFormat(budget, values).format(text);
  }

  private String format(String text) {
    StringBuilder out = new StringBuilder();
    Matcher m = DIRECTIVE.matcher(text);
    int at = 0;
    for (int percent = text.indexOf('%'); percent >= 0; percent = text.indexOf('%', at)) {
      budget.chars(percent - at + 8L);
      out.append(text, at, percent);
      if (!m.region(percent, text.length()).lookingAt()) {
        throw JinjaException.value("incomplete format");
      }
      at = m.end();
      if (m.group(5).equals("%")) {
        out.append('%');
      } else {
        String piece = directive(m);
        budget.chars(piece.length());
        out.append(piece);
      }
    }
    budget.chars(text.length() - at);
    out.append(text, at, text.length());
    if (positional.hasNext() && !byName && !(values instanceof Dict || isListLike(values))) {
      throw JinjaException.type("not all arguments converted during string formatting");
    }
    return out.toString();
  }

  private static boolean isListLike(Object values) {
    return values instanceof List;
  }

  private Object next() {
    if (!positional.hasNext()) {
      throw JinjaException.type("not enough arguments for format string");
    }
    return positional.next();
  }

  private String directive(Matcher m) {
    String flags = m.group(2);
    Object named = Arguments.MISSING;
    if (m.group(1) != null) {
      named = named(m.group(1));
    }
    int width = size(m.group(3), 0);
    boolean left = flags.contains("-") || width < 0;
    int precision = m.group(4) == null ? -1 : Math.max(0, size(m.group(4), 0));
    Object value = named == Arguments.MISSING ? next() : named;
    char type = m.group(5).charAt(0);
    String body = body(value, type, precision, flags);
    String sign = "";
    boolean numeric = "diuoxXeEfFgG".indexOf(type) >= 0;
    if (numeric) {
      boolean negative = body.startsWith("-");
      sign = negative ? "-" : flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
      body = negative ? body.substring(1) : body;
    }
    int room = Math.abs(width) - Values.length(sign + body);
    if (room <= 0) {
      return sign + body;
    }
    budget.chars(room);
    if (left) {
      return sign + body + " ".repeat(room);
    }
    return numeric && flags.contains("0")
        ? sign + "0".repeat(room) + body
        : " ".repeat(room) + sign + body;
  }

  private int size(String digits, int otherwise) {
    if (digits == null || digits.isEmpty()) {
      return otherwise;
    }
    return digits.equals("*") ? Numbers.index(next()) : Integer.parseInt(digits);
  }

  private Object named(String key) {
    if (!(values instanceof Dict dict)) {
      throw JinjaException.type("format requires a mapping");
    }
    byName = true;
    Object value = dict.get(key);
    if (value == Arguments.MISSING) {
      throw JinjaException.of("KeyError", "'%s'", key);
    }
    return value;
  }

  private String body(Object value, char type, int precision, String flags) {
    switch (type) {
      case 's', 'r', 'a':
        String text = type == 's' ? Printing.str(budget, value) : Printing.repr(budget, value);
        text = type == 'a' ? ascii(text) : text;
        return precision >= 0 && precision < Values.length(text)
            ? CodePoints.slice(text, 0, precision)
            : text;
      case 'c':
        if (Values.isText(value) && Values.length(value) == 1) {
          return Values.text(value);
        }
        int c = Numbers.index(value);
        if (!Character.isValidCodePoint(c)) {
          throw JinjaException.of("OverflowError", "%%c arg not in range(0x110000)");
        }
        return Character.toString(c);
      case 'd', 'i', 'u', 'o', 'x', 'X':
        return whole(value, type, precision, flags.contains("#"));
      case 'e', 'E', 'f', 'F', 'g', 'G':
        return FormatSpec.real(budget, real(value), type, precision, flags.contains("#"));
      default:
        throw JinjaException.value("unsupported format character '%s'", type);
    }
  }

  private String whole(Object value, char type, int precision, boolean alternate) {
    BigInteger number;
    if (value instanceof Double real && "diu".indexOf(type) >= 0 && Double.isFinite(real)) {
      number = new BigDecimal(real).toBigInteger();
    } else if (Numbers.isInt(value)) {
      number = Numbers.big(value);
    } else {
      throw JinjaException.type(
          "%%%s format: a number is required, not %s", type, Values.type(value));
    }
    String text = FormatSpec.whole(number, type, alternate);
    boolean negative = text.startsWith("-");
    String digits = negative ? text.substring(1) : text;
    if (precision > digits.length()) {
      budget.chars(precision);
      digits = "0".repeat(precision - digits.length()) + digits;
    }
    return (negative ? "-" : "") + digits;
  }

  private static double real(Object value) {
    if (!Numbers.isNumber(value)) {
      throw JinjaException.type("must be real number, not %s", Values.type(value));
    }
    return Numbers.asDouble(value);
  }

  /** Escapes all that is not ASCII. */
  static String ascii(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(
            c ->
                out.append(
                    c < 128
                        ? Character.toString(c)
                        : String.format(
                            c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c)));
    return out.toString();
  }
}
