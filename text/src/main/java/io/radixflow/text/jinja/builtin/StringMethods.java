package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Values;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Methods of Python's str. */
final class StringMethods {
  static final Map<String, Invocable> ALL = new HashMap<>();

  private StringMethods() {}

  static {
    plain("upper", LetterCase::upper);
    plain("lower", LetterCase::lower);
    plain("title", LetterCase::title);
    plain("capitalize", LetterCase::capitalized);
    ALL.put("strip", (budget, a) -> strip(budget, a, true, true));
    ALL.put("lstrip", (budget, a) -> strip(budget, a, true, false));
    ALL.put("rstrip", (budget, a) -> strip(budget, a, false, true));
    ALL.put("startswith", (budget, a) -> bounded("startswith", a, true));
    ALL.put("endswith", (budget, a) -> bounded("endswith", a, false));
    ALL.put("find", (budget, a) -> find(budget, a, "find"));
    ALL.put("rfind", (budget, a) -> find(budget, a, "rfind"));
    ALL.put("count", StringMethods::count);
    ALL.put("replace", StringMethods::replace);
    ALL.put("join", StringMethods::join);
    ALL.put("format", TemplateFormats::braces);
    ALL.put("split", (budget, a) -> StringSplitting.split(budget, a, false));
    ALL.put("rsplit", (budget, a) -> StringSplitting.split(budget, a, true));
    ALL.put("splitlines", StringSplitting::splitLines);
  }

  private static void plain(String name, UnaryOperator<String> method) {
    ALL.put(
        name,
        (budget, arguments) -> {
          String text = Values.text(arguments.bindPositions(name, 1, 1)[0]);
          budget.chars(3L * text.length());
          return method.apply(text);
        });
  }

  /** Returns an argument, which must be a str. */
  static String text(String method, Object value) {
    if (!Values.isText(value)) {
      throw JinjaException.type("%s() needs a str, not %s", method, Values.type(value));
    }
    return Values.text(value);
  }

  /** Returns a start or stop argument as an index from 0 to the length. */
  private static int position(Object value, int length, int otherwise) {
    if (value == Arguments.MISSING || value == null) {
      return otherwise;
    }
    long at = Numbers.index(value);
    return (int) Math.max(0, Math.min(length, at < 0 ? at + length : at));
  }

  private static Object strip(Budget budget, Arguments a, boolean left, boolean right) {
    Object[] bound = a.bindPositions("strip", 1, 2);
    String text = Values.text(bound[0]);
    Object characters = Arguments.or(bound[1], null);
    budget.chars(text.length());
    return PythonText.strip(
        text, characters == null ? null : text("strip", characters), left, right);
  }

  /** The part of a text that the third and fourth argument of a method select. */
  private record Part(String text, int from) {
    /** Returns the part of the first argument; null if it begins after the end of the text. */
    static Part of(Object[] a) {
      String text = Values.text(a[0]);
      int length = Values.length(text);
      int from = position(a[2], length, 0);
      int to = position(a[3], length, length);
      boolean beyond = Numbers.isInt(a[2]) && Numbers.index(a[2]) > length;
      return from > to || beyond ? null : new Part(PythonText.slice(text, from, to), from);
    }
  }

  private static Object bounded(String name, Arguments arguments, boolean start) {
    Object[] a = arguments.bindPositions(name, 2, 4);
    Part part = Part.of(a);
    for (Object one : a[1] instanceof Tuple tuple ? tuple.items() : List.of(text(name, a[1]))) {
      String affix = text(name, one);
      if (part != null && (start ? part.text.startsWith(affix) : part.text.endsWith(affix))) {
        return true;
      }
    }
    return false;
  }

  private static Object find(Budget budget, Arguments arguments, String name) {
    Object[] a = arguments.bindPositions(name, 2, 4);
    String wanted = text(name, a[1]);
    budget.work(1 + Values.text(a[0]).length() / 8);
    Part part = Part.of(a);
    if (part == null) {
      return -1L;
    }
    int at = name.equals("find") ? part.text.indexOf(wanted) : part.text.lastIndexOf(wanted);
    return at < 0 ? -1L : (long) part.from + part.text.codePointCount(0, at);
  }

  private static Object count(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("count", 2, 4);
    String wanted = text("count", a[1]);
    Part part = Part.of(a);
    if (part == null || wanted.isEmpty()) {
      return part == null ? 0L : Values.length(part.text) + 1L;
    }
    return StringSplitting.parts(budget, part.text, wanted, Integer.MAX_VALUE).size() - 1L;
  }

  private static Object replace(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("replace", 3, 4);
    int most = a[3] == Arguments.MISSING ? -1 : Numbers.index(a[3]);
    return replace(budget, Values.text(a[0]), text("replace", a[1]), text("replace", a[2]), most);
  }

  /** Replaces the first {@code most} occurrences; all occurrences if {@code most} is negative. */
  static String replace(Budget budget, String text, String from, String to, int most) {
    budget.chars(text.length());
    StringBuilder out = new StringBuilder();
    int at = 0;
    for (int done = 0; most < 0 || done < most; done++) {
      int found =
          from.isEmpty() && done == 0 ? 0 : text.indexOf(from, at + (from.isEmpty() ? 1 : 0));
      if (found < 0 || from.isEmpty() && done > 0 && at >= text.length()) {
        break;
      }
      if (from.isEmpty() && done > 0) {
        found = at + Character.charCount(text.codePointAt(at));
      }
      budget.chars((long) found - at + to.length());
      out.append(text, at, found).append(to);
      at = found + from.length();
    }
    return out.append(text, at, text.length()).toString();
  }

  private static Object join(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("join", 2, 2);
    String separator = Values.text(a[0]);
    StringBuilder out = new StringBuilder();
    int index = 0;
    for (Iterator<Object> items = Values.iterate(a[1]); items.hasNext(); index++) {
      String item = text("join", items.next());
      budget.chars((long) item.length() + separator.length());
      out.append(index == 0 ? "" : separator).append(item);
    }
    return out.toString();
  }
}
