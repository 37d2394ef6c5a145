package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.CodePoints;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Numbers;
import io.radixflow.kernels.text.jinja.value.Printing;
import io.radixflow.kernels.text.jinja.value.Values;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats one value by a specification such as {@code >8.2f}. */
final class FormatSpec {
  private static final Pattern SPEC =
      Pattern.compile(
          "(?:(.)?([<>=^]))?([-+ ])?(#)?(0)?(\\d{1,10})?([,_])?(?:\\.(\\d{1,10}))?([a-zA-Z%])?",
          Pattern.DOTALL);
  private static final int MOST_PRECISION = 1 << 16;

  private FormatSpec() {}

  /** Returns {@code format(value, spec)}. */
  static String format(Budget budget, Object value, String spec) {
    if (spec.isEmpty()) {
      return Printing.str(budget, value);
    }
    Matcher m = SPEC.matcher(spec);
    if (!m.matches()) {
      throw JinjaException.value("Invalid format specifier '%s'", spec);
    }
    char type = m.group(9) == null ? 0 : m.group(9).charAt(0);
    int precision = m.group(8) == null ? -1 : number(m.group(8));
    String align = m.group(2);
    String fill = m.group(1) != null ? m.group(1) : m.group(5) != null ? "0" : " ";
    int width = m.group(6) == null ? 0 : number(m.group(6));
    String sign = "";
    String body;
    if (Values.isText(value) && (type == 0 || type == 's')) {
      body = Values.text(value);
      if (precision >= 0 && precision < Values.length(body)) {
        body = CodePoints.slice(body, 0, precision);
      }
      align = align == null ? "<" : align;
      if (align.equals("=") || m.group(3) != null) {
        throw JinjaException.value("sign or '=' is not allowed in a string format specifier");
      }
    } else if (Numbers.isNumber(value) && type != 's') {
      body = numeral(budget, value, type, precision, m.group(4) != null);
      boolean negative = body.startsWith("-");
      body = negative ? body.substring(1) : body;
      sign = negative ? "-" : m.group(3) == null || m.group(3).equals("-") ? "" : m.group(3);
      body = m.group(7) == null ? body : grouped(body, m.group(7));
      align = align != null ? align : m.group(5) != null ? "=" : ">";
    } else {
      throw JinjaException.type("unsupported format '%s' for %s", spec, Values.type(value));
    }
    return padded(budget, sign, body, align, fill, width);
  }

  private static int number(String digits) {
    return (int) Math.min(Integer.MAX_VALUE, Long.parseLong(digits));
  }

  private static String padded(
      Budget budget, String sign, String body, String align, String fill, int width) {
    String whole = sign + body;
    int room = width - Values.length(whole);
    if (room <= 0) {
      return whole;
    }
    budget.chars((long) width * 2);
    return switch (align) {
      case "<" -> whole + fill.repeat(room);
      case "^" -> fill.repeat(room / 2) + whole + fill.repeat(room - room / 2);
      case "=" -> sign + fill.repeat(room) + body;
      default -> fill.repeat(room) + whole;
    };
  }

  private static String numeral(
      Budget budget, Object value, char type, int precision, boolean alternate) {
    if (Numbers.isInt(value) && (type == 0 || "bcdoxXn".indexOf(type) >= 0)) {
      if (precision >= 0) {
        throw JinjaException.value("Precision not allowed in integer format specifier");
      }
      if (value instanceof Boolean flag && type == 0) {
        return flag ? "1" : "0";
      }
      return whole(Numbers.big(value), type, alternate);
    }
    double number = Numbers.asDouble(value);
    if (type == 0) {
      String text = Printing.number(number);
      return precision < 0 ? text : real(budget, number, 'g', precision, true);
    }
    return real(budget, number, type, precision, alternate);
  }

  /** Returns the digits of a whole number in the base that the type names. */
  static String whole(BigInteger value, char type, boolean alternate) {
    int base =
        switch (type) {
          case 'b' -> 2;
          case 'o' -> 8;
          case 'x', 'X' -> 16;
          default -> 10;
        };
    if (type == 'c') {
      return Character.toString(value.intValue());
    }
    String digits = base == 10 ? Printing.whole(value.abs()) : value.abs().toString(base);
    String prefix = alternate && base != 10 ? "0" + Character.toLowerCase(type) : "";
    String text = (value.signum() < 0 ? "-" : "") + prefix + digits;
    return type == 'X' ? text.toUpperCase(Locale.ROOT) : text;
  }

  /** Returns a double in the form that the type names: e, f, g, % or their capitals. */
  static String real(Budget budget, double value, char type, int precision, boolean alternate) {
    if (precision > MOST_PRECISION) {
      throw JinjaException.limit("a precision is too large");
    }
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      String text = Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
      return Character.isUpperCase(type)
          ? text.toUpperCase(Locale.ROOT)
          : text + (type == '%' ? "%" : "");
    }
    int digits = precision < 0 ? 6 : precision;
    budget.chars(400L + digits);
    String minus = value < 0 || value == 0 && 1 / value < 0 ? "-" : "";
    BigDecimal exact = new BigDecimal(Math.abs(value));
    String text =
        switch (Character.toLowerCase(type)) {
          case 'f' -> exact.setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
          case '%' ->
              new BigDecimal(Math.abs(value * 100))
                      .setScale(digits, RoundingMode.HALF_EVEN)
                      .toPlainString()
                  + "%";
          case 'e' -> scientific(exact, digits);
          case 'g', 'n' -> general(exact, Math.max(1, digits), alternate);
          default -> throw JinjaException.value("Unknown format code '%s'", type);
        };
    return minus + (Character.isUpperCase(type) ? text.toUpperCase(Locale.ROOT) : text);
  }

  private static String scientific(BigDecimal exact, int digits) {
    if (exact.signum() == 0) {
      return "0" + (digits > 0 ? "." + "0".repeat(digits) : "") + "e+00";
    }
    BigDecimal rounded = exact.round(new MathContext(digits + 1, RoundingMode.HALF_EVEN));
    String figures = rounded.unscaledValue().toString();
    int exponent = figures.length() - 1 - rounded.scale();
    figures += "0".repeat(Math.max(0, digits + 1 - figures.length()));
    return figures.charAt(0)
        + (digits > 0 ? "." + figures.substring(1, digits + 1) : "")
        + Printing.exponent(exponent);
  }

  private static String general(BigDecimal exact, int digits, boolean alternate) {
    BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    int exponent = rounded.signum() == 0 ? 0 : rounded.precision() - 1 - rounded.scale();
    if (exponent < -4 || exponent >= digits) {
      String text = scientific(exact, digits - 1);
      int e = text.indexOf('e');
      return alternate ? text : stripped(text.substring(0, e)) + text.substring(e);
    }
    String text =
        rounded
            .setScale(Math.max(0, digits - 1 - exponent), RoundingMode.HALF_EVEN)
            .toPlainString();
    return alternate ? text : stripped(text);
  }

  private static String stripped(String number) {
    if (number.indexOf('.') < 0) {
      return number;
    }
    String text = number;
    while (text.endsWith("0")) {
      text = text.substring(0, text.length() - 1);
    }
    return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }

  private static String grouped(String digits, String separator) {
    int end = 0;
    while (end < digits.length() && Character.isDigit(digits.charAt(end))) {
      end++;
    }
    StringBuilder out = new StringBuilder(digits);
    for (int i = end - 3; i > 0; i -= 3) {
      out.insert(i, separator);
    }
    return out.toString();
  }
}
