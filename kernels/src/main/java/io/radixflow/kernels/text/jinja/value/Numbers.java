package io.radixflow.kernels.text.jinja.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Python's arithmetic: whole numbers of any size up to a bound, and doubles. */
public final class Numbers {
  private static final int MOST_BITS = 1 << 16;
  private static final BigInteger LEAST_LONG = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger GREATEST_LONG = BigInteger.valueOf(Long.MAX_VALUE);

  private Numbers() {}

  public static boolean isInt(Object value) {
    return value instanceof Long || value instanceof BigInteger || value instanceof Boolean;
  }

  public static boolean isNumber(Object value) {
    return value instanceof Number || value instanceof Boolean;
  }

  /** Returns a whole number in the form that all of its value have. */
  public static Object narrow(BigInteger value) {
    if (value.bitLength() < Long.SIZE) {
      return value.longValue();
    }
    if (value.bitLength() > MOST_BITS) {
      throw JinjaException.limit("a number is too large");
    }
    return value;
  }

  public static BigInteger big(Object value) {
    return value instanceof BigInteger big ? big : BigInteger.valueOf(asLong(value));
  }

  /** Returns a whole number as a long, the nearest where it is beyond a long's range. */
  public static long asLong(Object value) {
    if (value instanceof Boolean flag) {
      return flag ? 1 : 0;
    } else if (value instanceof BigInteger big) {
      return big.max(LEAST_LONG).min(GREATEST_LONG).longValue();
    }
    return (Long) value;
  }

  /**
   * Returns an argument that must be a whole number, cut to the range of an int.
   *
   * @throws JinjaException if it is anything else
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

  /** Returns a number as a double. */
  public static double asDouble(Object value) {
    if (value instanceof Double number) {
      return number;
    }
    double number = value instanceof Long whole ? whole : big(value).doubleValue();
    if (Double.isInfinite(number)) {
      throw JinjaException.of("OverflowError", "int too large to convert to float");
    }
    return number;
  }

  /** Computes {@code left operator right} of two numbers. */
  public static Object compute(String operator, Object left, Object right) {
    if (isInt(left) && isInt(right)) {
      return left instanceof Long a && right instanceof Long b
          ? longs(operator, a, b)
          : bigs(operator, big(left), big(right));
    }
    return doubles(operator, asDouble(left), asDouble(right));
  }

  private static Object longs(String operator, long a, long b) {
    try {
      switch (operator) {
        case "+":
          return Math.addExact(a, b);
        case "-":
          return Math.subtractExact(a, b);
        case "*":
          return Math.multiplyExact(a, b);
        default:
          break;
      }
    } catch (ArithmeticException e) {
      // beyond a long: computed below
    }
    return bigs(operator, BigInteger.valueOf(a), BigInteger.valueOf(b));
  }

  private static Object bigs(String operator, BigInteger a, BigInteger b) {
    if (b.signum() == 0 && "/ // %".contains(operator)) {
      throw JinjaException.of("ZeroDivisionError", "division by zero");
    }
    return switch (operator) {
      case "+" -> narrow(a.add(b));
      case "-" -> narrow(a.subtract(b));
      case "*" -> narrow(a.multiply(b));
      case "/" -> quotient(a, b);
      case "//" -> narrow(floor(a, b));
      case "%" -> narrow(a.subtract(floor(a, b).multiply(b)));
      default -> power(a, b);
    };
  }

  private static BigInteger floor(BigInteger a, BigInteger b) {
    BigInteger[] parts = a.divideAndRemainder(b);
    return parts[1].signum() != 0 && parts[1].signum() != b.signum()
        ? parts[0].subtract(BigInteger.ONE)
        : parts[0];
  }

  private static Object quotient(BigInteger a, BigInteger b) {
    if (a.bitLength() <= 53 && b.bitLength() <= 53) {
      return a.doubleValue() / b.doubleValue();
    }
    double result = new BigDecimal(a).divide(new BigDecimal(b), new MathContext(60)).doubleValue();
    if (Double.isInfinite(result)) {
      throw JinjaException.of("OverflowError", "integer division result too large for a float");
    }
    return result;
  }

  private static Object power(BigInteger a, BigInteger b) {
    if (b.signum() < 0) {
      return doubles("**", asDouble(narrow(a)), asDouble(narrow(b)));
    }
    boolean unit = a.abs().compareTo(BigInteger.ONE) <= 0;
    if (!unit && (b.bitLength() > 31 || (a.bitLength() - 1L) * b.longValue() > MOST_BITS)) {
      throw JinjaException.limit("a number is too large");
    }
    if (unit) {
      return a.signum() < 0 ? (b.testBit(0) ? -1L : 1L) : b.signum() == 0 ? 1L : a.longValue();
    }
    return narrow(a.pow(b.intValue()));
  }

  private static Object doubles(String operator, double a, double b) {
    if (b == 0 && "/ // %".contains(operator)) {
      throw JinjaException.of("ZeroDivisionError", "float division by zero");
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> floor(a, b);
      case "%" -> modulo(a, b);
      default -> power(a, b);
    };
  }

  private static double modulo(double a, double b) {
    double rest = a % b;
    if (rest == 0) {
      return Math.copySign(0, b);
    }
    return rest < 0 != b < 0 ? rest + b : rest;
  }

  private static double floor(double a, double b) {
    double rest = a % b;
    double whole = (a - rest) / b;
    if (rest != 0 && rest < 0 != b < 0) {
      whole -= 1;
    }
    if (whole == 0) {
      return Math.copySign(0, a / b);
    }
    double down = Math.floor(whole);
    return whole - down > 0.5 ? down + 1 : down;
  }

  private static double power(double a, double b) {
    if (a == 0 && b < 0) {
      throw JinjaException.of("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    }
    if (a < 0 && b % 1 != 0 && !Double.isInfinite(a) && !Double.isInfinite(b)) {
      throw JinjaException.type("complex numbers are not supported");
    }
    if (a == 1 || a == -1 && Double.isInfinite(b)) {
      return 1;
    }
    double result = Math.pow(a, b);
    if (Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
      throw JinjaException.of("OverflowError", "Numerical result out of range");
    }
    return result;
  }

  /** Returns {@code round(value, digits)}. */
  public static Object round(Object value, int digits) {
    if (isInt(value)) {
      if (digits >= 0) {
        return value instanceof Boolean ? (Object) asLong(value) : value;
      }
      return digits < -MOST_BITS
          ? 0L
          : narrow(
              new BigDecimal(big(value)).setScale(digits, RoundingMode.HALF_EVEN).toBigInteger());
    }
    double number = asDouble(value);
    if (Double.isNaN(number) || Double.isInfinite(number) || digits > 400) {
      return number;
    }
    if (digits < -400) {
      return Math.copySign(0, number);
    }
    double rounded = new BigDecimal(number).setScale(digits, RoundingMode.HALF_EVEN).doubleValue();
    return rounded == 0 ? Math.copySign(0, number) : rounded;
  }
}
