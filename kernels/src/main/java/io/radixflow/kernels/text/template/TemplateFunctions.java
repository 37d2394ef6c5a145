package io.radixflow.kernels.text.template;

import com.hubspot.jinjava.lib.fn.ELFunctionDefinition;
import java.lang.reflect.Method;

/** Functions that chat templates expect beside those of Jinja itself. */
final class TemplateFunctions {

  /** A template's own refusal of its messages. */
  static final class Raised extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Raised(String message) {
      super(message, null, false, false);
    }
  }

  private TemplateFunctions() {}

  static Object raiseException(String message) {
    throw new Raised(message);
  }

  /**
   * The date of a fixed day, 26 July 2024, which is the one that Llama 3 templates fall back to: a
   * prompt must not change overnight, or replies after a crash would differ and no cached prefix
   * would match.
   */
  static String strftimeNow(String format) {
    return Strftime.format(Strftime.FIXED_NOW, format);
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
