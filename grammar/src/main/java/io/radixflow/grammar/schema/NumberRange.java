package io.radixflow.grammar.schema;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.text.regex.CodePoints;
import java.math.BigDecimal;
import java.math.BigInteger;

/** The JSON numbers of a schema: within bounds, and multiples of a number. */
final class NumberRange {
  private static final int MAX_DIVISOR = 1_000_000;

  private final RegexPool pool;
  private final Regex digit;
  private final Regex digits;
  private final Regex fraction;
  private BigDecimal low;
  private BigDecimal high;
  private boolean lowExcluded;
  private boolean highExcluded;
  private Regex multiples;

  NumberRange(RegexPool pool) {
    this.pool = pool;
    digit = pool.chars(CodePoints.range('0', '9'));
    digits = pool.repeat(digit, 0, Regex.MANY);
    fraction = pool.optional(pool.concat(pool.text("."), pool.repeat(digit, 1, Regex.MANY)));
  }

  void atLeast(BigDecimal bound, boolean excluded) {
    int order = low == null ? 1 : bound.compareTo(low);
    if (order > 0 || order == 0 && excluded) {
      low = bound;
      lowExcluded = excluded;
    }
  }

  void atMost(BigDecimal bound, boolean excluded) {
    int order = high == null ? -1 : bound.compareTo(high);
    if (order < 0 || order == 0 && excluded) {
      high = bound;
      highExcluded = excluded;
    }
  }

  void multipleOf(BigDecimal divisor) {
    BigDecimal plain = divisor.stripTrailingZeros();
    int scale = Math.max(plain.scale(), 0);
    BigInteger unscaled = scale > Limits.DIGITS ? null : plain.setScale(scale).unscaledValue();
    if (unscaled == null || unscaled.bitLength() > 31 || unscaled.intValueExact() > MAX_DIVISOR) {
      throw new GrammarException(
          "multipleOf", "", "multipleOf is not supported above 1000000 or with so many digits");
    }
    Regex more = pool.multiple(unscaled.intValueExact(), scale);
    multiples = multiples == null ? more : pool.and(multiples, more);
  }

  /** Returns the numbers of the range: only integers or all numbers. */
  Regex regex(boolean integer) {
    if (low != null && high != null && low.compareTo(high) > 0) {
      return pool.empty;
    }
    if (low == null && high == null) {
      return unbounded(integer);
    }
    boolean zeroOrMore = high == null || high.signum() >= 0;
    boolean belowZero = low == null || low.signum() < 0;
    Regex made = pool.empty;
    if (zeroOrMore) {
      Regex magnitude = whole(integer);
      if (low != null && (low.signum() > 0 || low.signum() == 0 && lowExcluded)) {
        magnitude = pool.and(magnitude, least(low, lowExcluded));
      }
      if (high != null) {
        magnitude = pool.and(magnitude, most(high, highExcluded));
      }
      made = limited(magnitude);
    }
    if (belowZero) {
      boolean zeroToo = high == null || high.signum() >= 0;
      Regex magnitude = integer ? positive() : whole(false);
      magnitude =
          pool.and(
              magnitude,
              zeroToo ? least(BigDecimal.ZERO, true) : least(high.negate(), highExcluded));
      if (low != null) {
        magnitude = pool.and(magnitude, most(low.negate(), lowExcluded));
      }
      made = pool.or(made, pool.concat(pool.text("-"), limited(magnitude)));
    }
    return made;
  }

  private Regex unbounded(boolean integer) {
    Regex sign = pool.optional(pool.text("-"));
    if (multiples != null) {
      return pool.concat(sign, limited(whole(integer)));
    }
    Regex number = whole(integer);
    if (!integer) {
      Regex e = pool.chars(CodePoints.of('e', 'E'));
      Regex exponentSign = pool.optional(pool.chars(CodePoints.of('+', '-')));
      Regex exponent = pool.concat(e, pool.concat(exponentSign, pool.repeat(digit, 1, Regex.MANY)));
      number = pool.concat(number, pool.optional(exponent));
    }
    return pool.concat(sign, number);
  }

  private Regex limited(Regex magnitude) {
    return multiples == null ? magnitude : pool.and(magnitude, multiples);
  }

  private Regex positive() {
    return pool.concat(pool.chars(CodePoints.range('1', '9')), digits);
  }

  private Regex whole(boolean integer) {
    Regex integers = pool.or(pool.text("0"), positive());
    return integer ? integers : pool.concat(integers, fraction);
  }

  /** Returns the digits before and after the point of a bound, without unnecessary zeros. */
  private static String[] split(BigDecimal bound) {
    BigDecimal stripped = bound.stripTrailingZeros();
    if (stripped.signum() == 0) {
      return new String[] {"0", ""};
    }
    if (Math.abs((long) stripped.scale()) + stripped.precision() > Limits.DIGITS) {
      throw GrammarException.tooLarge("a bound has more than " + Limits.DIGITS + " digits");
    }
    String plain = stripped.toPlainString();
    int point = plain.indexOf('.');
    return point < 0
        ? new String[] {plain, ""}
        : new String[] {plain.substring(0, point), plain.substring(point + 1)};
  }

  private Regex range(int first, int last) {
    return first > last ? pool.empty : pool.chars(CodePoints.range('0' + first, '0' + last));
  }

  /** Returns magnitudes of at least a bound that is not negative. */
  private Regex least(BigDecimal bound, boolean excluded) {
    String[] parts = split(bound);
    String head = parts[0];
    int n = head.length();
    Regex longer =
        pool.concat(range(1, 9), pool.concat(pool.repeat(digit, n, Regex.MANY), fraction));
    Regex equal = fractionAtLeast(parts[1], excluded);
    for (int i = n - 1; i >= 0; i--) {
      int d = head.charAt(i) - '0';
      Regex rest = pool.concat(pool.repeat(digit, n - 1 - i, n - 1 - i), fraction);
      equal = pool.or(pool.concat(range(d, d), equal), pool.concat(range(d + 1, 9), rest));
    }
    return pool.or(longer, equal);
  }

  private Regex fractionAtLeast(String bound, boolean excluded) {
    Regex zeros = pool.repeat(range(0, 0), 0, Regex.MANY);
    Regex tail =
        excluded
            ? pool.concat(zeros, pool.concat(range(1, 9), digits))
            : pool.repeat(digit, 1, Regex.MANY);
    for (int i = bound.length() - 1; i >= 0; i--) {
      int d = bound.charAt(i) - '0';
      boolean last = i == bound.length() - 1;
      Regex after = last && !excluded ? pool.optional(tail) : tail;
      tail = pool.or(pool.concat(range(d, d), after), pool.concat(range(d + 1, 9), digits));
    }
    Regex pointed = pool.concat(pool.text("."), tail);
    return bound.isEmpty() && !excluded ? pool.optional(pointed) : pointed;
  }

  /** Returns magnitudes of at most a bound that is not negative. */
  private Regex most(BigDecimal bound, boolean excluded) {
    String[] parts = split(bound);
    String head = parts[0];
    int n = head.length();
    Regex equal = fractionAtMost(parts[1], excluded);
    for (int i = n - 1; i >= 0; i--) {
      int d = head.charAt(i) - '0';
      Regex rest = pool.concat(pool.repeat(digit, n - 1 - i, n - 1 - i), fraction);
      Regex less = range(i == 0 && n > 1 ? 1 : 0, d - 1);
      equal = pool.or(pool.concat(range(d, d), equal), pool.concat(less, rest));
    }
    if (n == 1) {
      return equal;
    }
    Regex shorter = pool.or(range(0, 0), pool.concat(range(1, 9), pool.repeat(digit, 0, n - 2)));
    return pool.or(equal, pool.concat(shorter, fraction));
  }

  private Regex fractionAtMost(String bound, boolean excluded) {
    Regex zeros = pool.repeat(range(0, 0), 1, Regex.MANY);
    // More zeros after the digits of a bound with a fraction would be unnecessary.
    Regex tail = excluded || !bound.isEmpty() ? pool.empty : zeros;
    for (int i = bound.length() - 1; i >= 0; i--) {
      int d = bound.charAt(i) - '0';
      boolean last = i == bound.length() - 1;
      Regex after = last && excluded ? pool.empty : pool.optional(tail);
      tail = pool.or(pool.concat(range(d, d), after), pool.concat(range(0, d - 1), digits));
    }
    Regex pointed = pool.concat(pool.text("."), tail);
    return bound.isEmpty() && excluded ? pool.empty : pool.optional(pointed);
  }
}
