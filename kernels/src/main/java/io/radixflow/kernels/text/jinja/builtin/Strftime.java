package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Budget;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.TextStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.util.Locale;

/** C's {@code strftime} in English, as glibc has it; an unknown directive stays as it is. */
final class Strftime {

  private Strftime() {}

  static String format(Budget budget, String format, LocalDateTime time) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      int at = i + 1;
      boolean flagged = c == '%' && at < format.length() && "-_0^#".indexOf(format.charAt(at)) >= 0;
      char flag = flagged ? format.charAt(at++) : 0;
      String value = c == '%' && at < format.length() ? directive(format.charAt(at), time) : null;
      budget.chars(32);
      if (value == null) {
        out.append(c);
      } else {
        out.append(flagged(value, flag));
        i = at;
      }
    }
    return out.toString();
  }

  private static String flagged(String value, char flag) {
    return switch (flag) {
      case '-' -> value.replaceFirst("^[0 ]+(?=.)", "");
      case '_' -> padded(value, ' ');
      case '0' -> padded(value, '0');
      case '^' -> value.toUpperCase(Locale.ROOT);
      case '#' -> value.toUpperCase(Locale.ROOT);
      default -> value;
    };
  }

  private static String padded(String value, char fill) {
    int zeros = 0;
    while (zeros < value.length() - 1 && "0 ".indexOf(value.charAt(zeros)) >= 0) {
      zeros++;
    }
    return String.valueOf(fill).repeat(zeros) + value.substring(zeros);
  }

  private static String directive(char directive, LocalDateTime time) {
    return switch (directive) {
      case 'a' -> time.getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
      case 'A' -> time.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'b', 'h' -> time.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
      case 'B' -> time.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
      case 'c' ->
          pattern(time, "EEE MMM ")
              + two(time.getDayOfMonth(), ' ')
              + pattern(time, " HH:mm:ss uuuu");
      case 'C' -> two(time.getYear() / 100, '0');
      case 'd' -> pattern(time, "dd");
      case 'D', 'x' -> pattern(time, "MM/dd/uu");
      case 'e' -> two(time.getDayOfMonth(), ' ');
      case 'f' -> "%06d".formatted(time.getNano() / 1000);
      case 'F' -> pattern(time, "uuuu-MM-dd");
      case 'g' -> two(time.get(IsoFields.WEEK_BASED_YEAR) % 100, '0');
      case 'G' -> String.valueOf(time.get(IsoFields.WEEK_BASED_YEAR));
      case 'H' -> pattern(time, "HH");
      case 'I' -> pattern(time, "hh");
      case 'j' -> pattern(time, "DDD");
      case 'k' -> two(time.getHour(), ' ');
      case 'l' -> two(time.get(ChronoField.CLOCK_HOUR_OF_AMPM), ' ');
      case 'm' -> pattern(time, "MM");
      case 'M' -> pattern(time, "mm");
      case 'n' -> "\n";
      case 'p' -> time.getHour() < 12 ? "AM" : "PM";
      case 'P' -> time.getHour() < 12 ? "am" : "pm";
      case 'r' -> pattern(time, "hh:mm:ss ") + (time.getHour() < 12 ? "AM" : "PM");
      case 'R' -> pattern(time, "HH:mm");
      case 's' -> String.valueOf(time.toEpochSecond(java.time.ZoneOffset.UTC));
      case 'S' -> pattern(time, "ss");
      case 't' -> "\t";
      case 'T', 'X' -> pattern(time, "HH:mm:ss");
      case 'u' -> String.valueOf(time.getDayOfWeek().getValue());
      case 'U' -> two((time.getDayOfYear() + 6 - time.getDayOfWeek().getValue() % 7) / 7, '0');
      case 'V' -> two(time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), '0');
      case 'w' -> String.valueOf(time.getDayOfWeek().getValue() % 7);
      case 'W' -> two((time.getDayOfYear() + 6 - (time.getDayOfWeek().getValue() - 1)) / 7, '0');
      case 'y' -> pattern(time, "uu");
      case 'Y' -> String.valueOf(time.getYear());
      case 'z', 'Z' -> "";
      case '%' -> "%";
      default -> null;
    };
  }

  private static String pattern(LocalDateTime time, String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }

  private static String two(int number, char fill) {
    return (number < 10 ? String.valueOf(fill) : "") + number;
  }
}
