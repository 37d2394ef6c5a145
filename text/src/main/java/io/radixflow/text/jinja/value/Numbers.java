package io.radixflow.text.jinja.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * Python's arithmetic on 64-bit integers and doubles. Longer integers from the conversation can
 * only be printed and compared for equality; everything else is an overflow.
 */
public final class Numbers {
  private static final int MOST_DIGITS = 400;

  private Numbers() {}

  public static boolean isInt(Object value) {
    return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
  }

  public static boolean isNumber(Object value) {
    return value instanceof Number || value instanceof Boolean;
  }

  public static JinjaException overflow() {
    return JinjaException.of("OverflowError", "a whole number needs more than 64 bits");
  }

  /** Returns an int as a long. Throws if it does not fit. */
  public static long asLong(Object value) {
    if (value instanceof Boolean flag) {
      return flag ? 1 : 0;
    } else if (value instanceof Long whole) {
      return whole;
    }
    throw overflow();
  }

  /** Returns the integer part of a finite double. */
  public static long truncated(double number) {
    if (number >= Long.MIN_VALUE && number < -(double) Long.MIN_VALUE) {
      return (long) number;
    }
    throw overflow();
  }

  /**
   * Returns an argument as an int, clamped to the range of an int.
   *
   * @throws JinjaException if it is not a whole number
   */
  public static int index(Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    }
    if (!isInt(value)) {
      throw JinjaException.type(
          "'%s' object cannot be interpreted as an integer", Values.type(value));
    }
    return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, asLong(value)));
  }

  public static double asDouble(Object value) {
    return value instanceof Double number ? number : asLong(value);
  }

  /** Computes {@code left operator right} for two numbers. */
  public static Object compute(String operator, Object left, Object right) {
    boolean whole = isInt(left) && isInt(right);
    if (asDouble(right) == 0 && "/ // %".contains(operator)) {
      throw JinjaException.of("ZeroDivisionError", "division by zero");
    }
    try {
      return whole && !operator.equals("/")
          ? longs(operator, asLong(left), asLong(right))
          : doubles(operator, asDouble(left), asDouble(right));
    } catch (ArithmeticException e) {
      throw overflow();
    }
  }

  private static Object longs(String operator, long a, long b) {
    return switch (operator) {
      case "+" -> Math.addExact(a, b);
      case "-" -> Math.subtractExact(a, b);
      case "*" -> Math.multiplyExact(a, b);
      case "//" -> b == -1 ? Math.negateExact(a) : Math.floorDiv(a, b);
      case "%" -> Math.floorMod(a, b);
      default -> b < 0 ? (Object) power((double) a, b) : (Object) power(a, b);
    };
  }

  private static long power(long base, long exponent) {
    long result = 1;
    long square = base;
    for (long left = exponent; left > 0; left >>= 1) {
      result = (left & 1) == 1 ? Math.multiplyExact(result, square) : result;
      square = left > 1 ? Math.multiplyExact(square, square) : square;
    }
    return result;
  }

  private static double doubles(String operator, double a, double b) {
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> Math.rint((a - modulo(a, b)) / b);
      case "%" -> modulo(a, b);
      default -> power(a, b);
    };
  }

  private static double modulo(double a, double b) {
    double rest = a % b;
    return rest == 0 ? Math.copySign(0, b) : rest < 0 != b < 0 ? rest + b : rest;
  }

  private static double power(double a, double b) {
    double result = a == 1 ? 1 : Math.pow(a, b);
    if (Double.isFinite(a) && Double.isFinite(b) && !Double.isFinite(result)) {
      throw JinjaException.of("OverflowError", "the result of ** is not a finite real number");
    }
    return result;
  }

  /** Returns {@code round(value, digits)}. */
  public static Object round(Object value, int digits) {
    boolean whole = isInt(value);
    if (whole ? digits >= 0 : !Double.isFinite(asDouble(value))) {
      return whole ? (Object) asLong(value) : value;
    }
    int scale = Math.max(-MOST_DIGITS, Math.min(MOST_DIGITS, digits));
    BigDecimal rounded = exact(value).setScale(scale, RoundingMode.HALF_EVEN);
    if (!whole) {
      return Math.copySign(rounded.doubleValue(), (Double) value);
    }
    try {
      return rounded.longValueExact();
    } catch (ArithmeticException e) {
      throw overflow();
    }
  }

  /** Returns the exact value of a finite number. */
  static BigDecimal exact(Object number) {
    return number instanceof Double real
        ? new BigDecimal(real)
        : BigDecimal.valueOf(asLong(number));
  }
}
