package io.radixflow.kernels.text.template;

import com.hubspot.jinjava.lib.fn.ELFunctionDefinition;
import java.lang.reflect.Method;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** Functions that chat templates expect beside those of Jinja itself. */
final class TemplateFunctions {

  /** A template's own refusal of its messages. */
  static final class Raised extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Raised(String message) {
      super(message, null, false, false);
    }
  }

  private static final LocalDateTime NOW = LocalDateTime.of(2024, 7, 26, 12, 0);

  /** The directives of C's {@code strftime} that templates use. */
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

  private TemplateFunctions() {}

  static Object raiseException(String message) {
    throw new Raised(message);
  }

  /**
   * The date of a fixed day, 26 July 2024, which is the one that Llama 3 templates fall back to: a
   * prompt must not change overnight, or replies after a crash would differ and no cached prefix
   * would match. In English; an unknown directive stays as it is.
   */
  static String strftimeNow(String format) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      char directive = c == '%' && i + 1 < format.length() ? format.charAt(i + 1) : 0;
      String pattern = PATTERNS.get(directive);
      if (pattern == null) {
        out.append(c);
      } else {
        out.append(DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(NOW));
        i++;
      }
    }
    return out.toString();
  }

  static ELFunctionDefinition definition(String name, String method) {
    try {
      Method function = TemplateFunctions.class.getDeclaredMethod(method, String.class);
      function.setAccessible(true);
      return new ELFunctionDefinition("", name, function);
    } catch (NoSuchMethodException e) {
      throw new IllegalArgumentException(method, e);
    }
  }
}
