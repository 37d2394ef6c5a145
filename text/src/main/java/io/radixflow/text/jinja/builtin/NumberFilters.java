package io.radixflow.text.jinja.builtin;

import static io.radixflow.text.jinja.value.Arguments.or;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Filters on numbers, and filters that convert text to numbers. */
final class NumberFilters {
  private static final Pattern FLOAT =
      Pattern.compile("[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?");

  private NumberFilters() {}

  static void register(Map<String, Invocable> filters) {
    filters.put("abs", (budget, a) -> abs(budget, a.bind("abs", 1, "x")[0]));
    filters.put("int", NumberFilters::toInt);
    filters.put("float", NumberFilters::toFloat);
    filters.put("round", NumberFilters::round);
  }

  private static Object abs(Budget budget, Object value) {
    if (!Numbers.isNumber(value)) {
      throw value instanceof Undefined undefined
          ? undefined.failure()
          : JinjaException.type("bad operand type for abs(): '%s'", Values.type(value));
    }
    return Comparison.ordered(budget, "<", value, 0L) ? Operators.signed("-", value) : value;
  }

  private static Object toInt(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("int", 1, "value", "default", "base");
    Object otherwise = or(a[1], 0L);
    Object value = a[0];
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (Values.isText(value)) {
      String text = Values.text(value);
      budget.chars(text.length());
      Object whole = parseInt(text, Numbers.index(or(a[2], 10L)));
      if (whole != null) {
        return whole;
      }
      Double number = parseFloat(text);
      return number == null || !Double.isFinite(number) ? otherwise : Numbers.truncated(number);
    } else if (value instanceof Double number) {
      return Double.isNaN(number) ? otherwise : Numbers.truncated(number);
    }
    return Numbers.isInt(value) ? Numbers.asLong(value) : otherwise;
  }

  /** Returns {@code int(text, base)}; null if the text is not a number in this base. */
  private static Long parseInt(String text, int base) {
    String number = PythonText.strip(text, null, true, true).toLowerCase(Locale.ROOT);
    String sign = number.startsWith("-") ? "-" : "";
    String digits = number.startsWith("+") ? number.substring(1) : number.substring(sign.length());
    String prefix = base == 16 ? "0x" : base == 8 ? "0o" : "0b";
    if (base != 10 && digits.startsWith(prefix)) {
      digits = digits.substring(2);
    }
    boolean valid = base >= 2 && base <= 36 && !digits.isEmpty();
    if (!valid || !digits.chars().allMatch(c -> Character.digit(c, base) >= 0)) {
      return null;
    }
    try {
      return Long.parseLong(sign + digits, base);
    } catch (NumberFormatException e) {
      throw Numbers.overflow();
    }
  }

  /** Returns {@code float(text)}; null if the text is not a number. */
  private static Double parseFloat(String text) {
    String number = PythonText.strip(text, null, true, true).toLowerCase(Locale.ROOT);
    return switch (number) {
      case "inf", "+inf", "infinity", "+infinity" -> Double.POSITIVE_INFINITY;
      case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
      case "nan", "+nan", "-nan" -> Double.NaN;
      default -> FLOAT.matcher(number).matches() ? Double.valueOf(number) : null;
    };
  }

  private static Object toFloat(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("float", 1, "value", "default");
    if (a[0] instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (Values.isText(a[0])) {
      budget.chars(Values.text(a[0]).length());
      Double number = parseFloat(Values.text(a[0]));
      return number == null ? or(a[1], 0.0) : number;
    }
    return Numbers.isNumber(a[0]) ? Numbers.asDouble(a[0]) : or(a[1], 0.0);
  }

  private static Object round(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("round", 1, "value", "precision", "method");
    Object method = or(a[2], "common");
    Object precision = or(a[1], 0L);
    if (a[0] instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (!Numbers.isNumber(a[0])) {
      throw JinjaException.type("type %s doesn't define __round__", Values.type(a[0]));
    }
    if ("common".equals(method)) {
      return Numbers.round(a[0], Numbers.index(precision));
    } else if (!"ceil".equals(method) && !"floor".equals(method)) {
      throw JinjaException.of("FilterArgumentError", "method must be common, ceil or floor");
    }
    double scale = Math.pow(10, Numbers.index(precision));
    double scaled = Numbers.asDouble(a[0]) * scale;
    return (method.equals("ceil") ? Math.ceil(scaled) : Math.floor(scaled)) / scale;
  }
}
