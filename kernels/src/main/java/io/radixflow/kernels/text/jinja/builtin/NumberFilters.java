package io.radixflow.kernels.text.jinja.builtin;

import static io.radixflow.kernels.text.jinja.value.Arguments.or;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.CodePoints;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Numbers;
import io.radixflow.kernels.text.jinja.value.Undefined;
import io.radixflow.kernels.text.jinja.value.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Filters on numbers, and filters that convert text to numbers. */
final class NumberFilters {
  private static final Pattern FLOAT =
      Pattern.compile(
          "[+-]?(?:(?:\\d+(?:_\\d+)*)?\\.?(?:\\d+(?:_\\d+)*)?(?:[eE][+-]?\\d+(?:_\\d+)*)?)");
  private static final int MOST_DIGITS = 4300;

  private NumberFilters() {}

  static void register(Map<String, Invocable> filters) {
    filters.put("abs", (budget, a) -> abs(a.bind("abs", 1, "x")[0]));
    filters.put("int", NumberFilters::toInt);
    filters.put("float", NumberFilters::toFloat);
    filters.put("round", NumberFilters::round);
    filters.put("filesizeformat", NumberFilters::fileSize);
  }

  private static Object abs(Object value) {
    if (!Numbers.isNumber(value)) {
      throw value instanceof Undefined undefined
          ? undefined.failure()
          : JinjaException.type("bad operand type for abs(): '%s'", Values.type(value));
    }
    return value instanceof Double number
        ? (Object) Math.abs(number)
        : Numbers.narrow(Numbers.big(value).abs());
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
      return number == null || !Double.isFinite(number) ? otherwise : truncated(number);
    } else if (value instanceof Double number) {
      if (Double.isInfinite(number)) {
        throw JinjaException.of("OverflowError", "cannot convert float infinity to integer");
      }
      return Double.isNaN(number) ? otherwise : truncated(number);
    }
    return Numbers.isInt(value) ? Numbers.narrow(Numbers.big(value)) : otherwise;
  }

  private static Object truncated(double number) {
    return Numbers.narrow(new BigDecimal(number).toBigInteger());
  }

  /** Returns {@code int(text, base)}, or null if the text is no such number. */
  private static Object parseInt(String text, int base) {
    String digits = CodePoints.strip(text, null, true, true).toLowerCase(Locale.ROOT);
    boolean negative = digits.startsWith("-");
    digits = negative || digits.startsWith("+") ? digits.substring(1) : digits;
    String prefix = digits.length() > 2 ? digits.substring(0, 2) : "";
    int prefixed =
        switch (prefix) {
          case "0x" -> 16;
          case "0o" -> 8;
          case "0b" -> 2;
          default -> 0;
        };
    int radix = base;
    if (prefixed > 0 && (base == 0 || base == prefixed)) {
      radix = prefixed;
      digits = digits.substring(digits.startsWith("_", 2) ? 3 : 2);
    } else if (base == 0) {
      radix = 10;
      if (digits.startsWith("0") && !digits.replace("_", "").matches("0+")) {
        return null;
      }
    }
    if (digits.isEmpty()
        || radix < 2
        || radix > 36
        || digits.startsWith("_")
        || digits.endsWith("_")
        || digits.contains("__")
        || digits.startsWith("-")
        || digits.startsWith("+")
        || digits.length() > MOST_DIGITS) {
      return null;
    }
    try {
      BigInteger whole = new BigInteger(digits.replace("_", ""), radix);
      return Numbers.narrow(negative ? whole.negate() : whole);
    } catch (NumberFormatException e) {
      return null; // no digits of this base
    }
  }

  /** Returns {@code float(text)}, or null if the text is not a number. */
  private static Double parseFloat(String text) {
    String number = CodePoints.strip(text, null, true, true);
    switch (number.toLowerCase(Locale.ROOT)) {
      case "inf", "+inf", "infinity", "+infinity":
        return Double.POSITIVE_INFINITY;
      case "-inf", "-infinity":
        return Double.NEGATIVE_INFINITY;
      case "nan", "+nan", "-nan":
        return Double.NaN;
      default:
        break;
    }
    Matcher m = FLOAT.matcher(number);
    if (number.length() > MOST_DIGITS || !m.matches()) {
      return null;
    }
    try {
      return Double.valueOf(number.replace("_", ""));
    } catch (NumberFormatException e) {
      return null; // a sign or a point alone
    }
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
    Object scale = Numbers.compute("**", 10L, precision);
    double scaled = Numbers.asDouble(Numbers.compute("*", a[0], scale));
    if (!Double.isFinite(scaled)) {
      throw JinjaException.of("OverflowError", "cannot convert float to integer");
    }
    return Numbers.compute(
        "/", truncated(method.equals("ceil") ? Math.ceil(scaled) : Math.floor(scaled)), scale);
  }

  private static Object fileSize(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("filesizeformat", 1, "value", "binary");
    boolean binary = Values.truth(or(a[1], false));
    Double parsed = Values.isText(a[0]) ? parseFloat(Values.text(a[0])) : null;
    if (parsed == null && !Numbers.isNumber(a[0])) {
      throw JinjaException.type("filesizeformat needs a number");
    }
    double bytes = parsed != null ? parsed : Numbers.asDouble(a[0]);
    int base = binary ? 1024 : 1000;
    if (bytes == 1) {
      return "1 Byte";
    } else if (bytes < base) {
      return (long) bytes + " Bytes";
    }
    String[] units =
        binary
            ? new String[] {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
            : new String[] {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
    int unit = 0;
    double size = Math.pow(base, 2);
    while (bytes >= size && unit < units.length - 1) {
      unit++;
      size *= base;
    }
    return FormatSpec.real(budget, base * bytes / size, 'f', 1, false) + " " + units[unit];
  }
}
