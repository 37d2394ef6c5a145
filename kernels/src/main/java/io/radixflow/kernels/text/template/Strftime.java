package io.radixflow.kernels.text.template;

import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** The directives of C's {@code strftime} that templates use, in English. */
final class Strftime {

  static final LocalDateTime FIXED_NOW = LocalDateTime.of(2024, 7, 26, 12, 0);

  private static final Map<Character, String> PATTERNS =
      Map.ofEntries(
          Map.entry('Y', "uuuu"),
          Map.entry('y', "uu"),
          Map.entry('m', "MM"),
          Map.entry('B', "MMMM"),
          Map.entry('b', "MMM"),
          Map.entry('d', "dd"),
          Map.entry('j', "DDD"),
          Map.entry('A', "EEEE"),
          Map.entry('a', "EEE"),
          Map.entry('H', "HH"),
          Map.entry('I', "hh"),
          Map.entry('M', "mm"),
          Map.entry('S', "ss"),
          Map.entry('p', "a"));

  private Strftime() {}

  /** Formats a time; an unknown directive stays as it is. */
  static String format(LocalDateTime time, String format) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      char directive = c == '%' && i + 1 < format.length() ? format.charAt(i + 1) : 0;
      String pattern = PATTERNS.get(directive);
      if (pattern == null) {
        out.append(c);
      } else {
        out.append(DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time));
        i++;
      }
    }
    return out.toString();
  }
}
