package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.JinjaException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** C's {@code strftime} in English. The flag {@code -} removes leading zeros. */
final class Strftime {
  private static final Pattern DIRECTIVE = Pattern.compile("%(-?)(.?)", Pattern.DOTALL);

  private Strftime() {}

  static String format(Budget budget, String format, LocalDateTime time) {
    StringBuilder out = new StringBuilder();
    Matcher m = DIRECTIVE.matcher(format);
    int at = 0;
    for (; m.find(); at = m.end()) {
      budget.chars(m.end() - at + 32L);
      String value = m.group().equals("%%") ? "%" : value(m.group(), m.group(2), time);
      boolean trimmed = m.group(1).equals("-");
      out.append(format, at, m.start());
      out.append(trimmed ? value.replaceFirst("^[0 ]+(?=.)", "") : value);
    }
    return out.append(format, at, format.length()).toString();
  }

  private static String value(String directive, String letter, LocalDateTime time) {
    String pattern =
        switch (letter) {
          case "a" -> "EEE";
          case "A" -> "EEEE";
          case "b", "h" -> "MMM";
          case "B" -> "MMMM";
          case "d" -> "dd";
          case "D", "x" -> "MM/dd/uu";
          case "e" -> "ppd";
          case "F" -> "uuuu-MM-dd";
          case "H" -> "HH";
          case "I" -> "hh";
          case "j" -> "DDD";
          case "m" -> "MM";
          case "M" -> "mm";
          case "p" -> "a";
          case "R" -> "HH:mm";
          case "S" -> "ss";
          case "T", "X" -> "HH:mm:ss";
          case "y" -> "uu";
          case "Y" -> "uuuu";
          case "z", "Z" -> "";
          default -> throw JinjaException.value("strftime_now: '%s' is not supported", directive);
        };
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }
}
