package io.radixflow.kernels.text.template;

import io.radixflow.kernels.text.pretokenizer.UnicodeClasses;
import java.beans.FeatureDescriptor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import jinjava.javax.el.ELContext;
import jinjava.javax.el.ELResolver;

/**
 * The methods of Python's {@code str} that chat templates call, where Java's String has none or
 * another meaning: {@code split} takes a text, not a pattern, {@code strip} takes characters.
 */
final class PythonStrings extends ELResolver {

  @Override
  public Object invoke(
      ELContext context, Object base, Object method, Class<?>[] types, Object[] params) {
    if (!(base instanceof CharSequence)) {
      return null;
    }
    Object[] arguments = params == null ? new Object[0] : params;
    Object result = call(base.toString(), String.valueOf(method), arguments);
    context.setPropertyResolved(result != null);
    return result;
  }

  /** Returns what a method returns, or null if it is none of these. */
  private static Object call(String text, String method, Object[] params) {
    String first = params.length > 0 && params[0] != null ? params[0].toString() : null;
    return switch (method) {
      case "startswith" -> any(params[0]).stream().anyMatch(text::startsWith);
      case "endswith" -> any(params[0]).stream().anyMatch(text::endsWith);
      case "strip" -> strip(text, first, true, true);
      case "lstrip" -> strip(text, first, true, false);
      case "rstrip" -> strip(text, first, false, true);
      case "split" -> {
        long most = params.length > 1 ? ((Number) params[1]).longValue() : -1;
        yield first == null ? splitAtSpace(text) : split(text, first, most);
      }
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "lower" -> text.toLowerCase(Locale.ROOT);
      case "replace" -> text.replace(first, params[1].toString());
      case "find" -> (long) text.indexOf(first);
      case "count" -> (long) split(text, first, -1).size() - 1;
      case "removeprefix" -> text.startsWith(first) ? text.substring(first.length()) : text;
      case "removesuffix" ->
          text.endsWith(first) ? text.substring(0, text.length() - first.length()) : text;
      default -> null;
    };
  }

  private static Collection<String> any(Object candidates) {
    List<String> texts = new ArrayList<>();
    if (candidates instanceof Collection<?> several) {
      several.forEach(text -> texts.add(String.valueOf(text)));
    } else {
      texts.add(String.valueOf(candidates));
    }
    return texts;
  }

  /** Python's {@code strip}: of the given characters, or of white space if there are none. */
  static String strip(String text, String characters, boolean left, boolean right) {
    int from = 0;
    int to = text.length();
    while (left && from < to && strips(text.charAt(from), characters)) {
      from++;
    }
    while (right && to > from && strips(text.charAt(to - 1), characters)) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean strips(char c, String characters) {
    return characters == null
        ? UnicodeClasses.of(c) == UnicodeClasses.SPACE || c >= 0x1C && c <= 0x1F
        : characters.indexOf(c) >= 0;
  }

  private static List<String> split(String text, String separator, long most) {
    if (separator.isEmpty()) {
      throw new IllegalArgumentException("empty separator");
    }
    List<String> parts = new ArrayList<>();
    int from = 0;
    for (int at = text.indexOf(separator); at >= 0 && most != 0; most--) {
      parts.add(text.substring(from, at));
      from = at + separator.length();
      at = text.indexOf(separator, from);
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static List<String> splitAtSpace(String text) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    for (int i = 0; i <= text.length(); i++) {
      if (i < text.length() && !strips(text.charAt(i), null)) {
        part.append(text.charAt(i));
      } else if (!part.isEmpty()) {
        parts.add(part.toString());
        part.setLength(0);
      }
    }
    return parts;
  }

  @Override
  public Object getValue(ELContext context, Object base, Object property) {
    return null;
  }

  @Override
  public Class<?> getType(ELContext context, Object base, Object property) {
    return null;
  }

  @Override
  public void setValue(ELContext context, Object base, Object property, Object value) {
    // Nothing here can be written; the resolvers behind refuse it.
  }

  @Override
  public boolean isReadOnly(ELContext context, Object base, Object property) {
    return true;
  }

  @Override
  public Iterator<FeatureDescriptor> getFeatureDescriptors(ELContext context, Object base) {
    return null;
  }

  @Override
  public Class<?> getCommonPropertyType(ELContext context, Object base) {
    return null;
  }
}
