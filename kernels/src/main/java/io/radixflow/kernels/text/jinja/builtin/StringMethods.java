package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.CodePoints;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Numbers;
import io.radixflow.kernels.text.jinja.value.Tuple;
import io.radixflow.kernels.text.jinja.value.Values;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Methods of Python's str. */
final class StringMethods {
  static final Map<String, Invocable> ALL = new HashMap<>();

  /** A method without further arguments. */
  private interface Plain {
    Object of(String text);
  }

  private StringMethods() {}

  static {
    plain("upper", LetterCase::upper);
    plain("lower", LetterCase::lower);
    plain("casefold", LetterCase::folded);
    plain("swapcase", LetterCase::swapped);
    plain("title", LetterCase::title);
    plain("capitalize", LetterCase::capitalized);
    plain("isspace", text -> all(text, CodePoints::isSpace));
    plain("isalpha", text -> all(text, Character::isLetter));
    plain("isalnum", text -> all(text, LetterCase::isAlphanumeric));
    plain("isdigit", text -> all(text, LetterCase::isDigit));
    plain("isdecimal", text -> all(text, Character::isDigit));
    plain("isnumeric", text -> all(text, LetterCase::isNumeric));
    plain("isascii", text -> text.codePoints().allMatch(c -> c < 128));
    plain("isprintable", text -> text.codePoints().allMatch(LetterCase::isPrintable));
    plain("isidentifier", LetterCase::isIdentifier);
    plain("isupper", LetterCase::isUpper);
    plain("islower", LetterCase::isLower);
    plain("istitle", LetterCase::isTitle);
    ALL.put("strip", (budget, a) -> strip(budget, a, true, true));
    ALL.put("lstrip", (budget, a) -> strip(budget, a, true, false));
    ALL.put("rstrip", (budget, a) -> strip(budget, a, false, true));
    ALL.put("startswith", (budget, a) -> bounded("startswith", a, true));
    ALL.put("endswith", (budget, a) -> bounded("endswith", a, false));
    ALL.put("find", (budget, a) -> find(budget, a, "find"));
    ALL.put("rfind", (budget, a) -> find(budget, a, "rfind"));
    ALL.put("index", (budget, a) -> find(budget, a, "index"));
    ALL.put("rindex", (budget, a) -> find(budget, a, "rindex"));
    ALL.put("count", StringMethods::count);
    ALL.put("replace", StringMethods::replace);
    ALL.put("join", StringMethods::join);
    ALL.put("center", (budget, a) -> justify(budget, a, "center"));
    ALL.put("ljust", (budget, a) -> justify(budget, a, "ljust"));
    ALL.put("rjust", (budget, a) -> justify(budget, a, "rjust"));
    ALL.put("zfill", StringMethods::zfill);
    ALL.put("expandtabs", StringMethods::expandTabs);
    ALL.put("removeprefix", (budget, a) -> removed(a, true));
    ALL.put("removesuffix", (budget, a) -> removed(a, false));
    ALL.put("encode", Encoding::encode);
    ALL.put("format", FormatString::format);
    ALL.put("format_map", FormatString::formatMap);
    ALL.putAll(StringSplitting.ALL);
  }

  private static void plain(String name, Plain method) {
    ALL.put(
        name,
        (budget, arguments) -> {
          String text = Values.text(arguments.bindPositions(name, 1, 1)[0]);
          budget.chars(3L * text.length());
          return method.of(text);
        });
  }

  private static boolean all(String text, java.util.function.IntPredicate holds) {
    return !text.isEmpty() && text.codePoints().allMatch(holds);
  }

  /** Returns an argument that must be a str. */
  static String text(String method, Object value) {
    if (!Values.isText(value)) {
      throw JinjaException.type("%s() needs a str, not %s", method, Values.type(value));
    }
    return Values.text(value);
  }

  /** Returns a start or stop argument as an index from 0 to the length. */
  static int position(Object value, int length, int otherwise) {
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
    return CodePoints.strip(
        text, characters == null ? null : text("strip", characters), left, right);
  }

  private static Object bounded(String name, Arguments arguments, boolean start) {
    Object[] a = arguments.bindPositions(name, 2, 4);
    String text = Values.text(a[0]);
    int length = Values.length(text);
    boolean empty = Numbers.isInt(a[2]) && Numbers.asLong(a[2]) > length;
    int from = position(a[2], length, 0);
    int to = position(a[3], length, length);
    String part = from <= to ? CodePoints.slice(text, from, to) : null;
    List<Object> wanted =
        a[1] instanceof Tuple tuple ? tuple.items() : List.of(nonNull(name, a[1]));
    for (Object one : wanted) {
      String affix = text(name, one);
      if (part != null && !empty && (start ? part.startsWith(affix) : part.endsWith(affix))) {
        return true;
      }
    }
    return false;
  }

  private static Object nonNull(String name, Object value) {
    return text(name, value);
  }

  private static Object find(Budget budget, Arguments arguments, String name) {
    Object[] a = arguments.bindPositions(name, 2, 4);
    String text = Values.text(a[0]);
    String wanted = text(name, a[1]);
    budget.work(1 + text.length() / 8);
    int length = Values.length(text);
    boolean beyond = Numbers.isInt(a[2]) && Numbers.asLong(a[2]) > length;
    int from = position(a[2], length, 0);
    int to = position(a[3], length, length);
    long found = -1;
    if (from <= to && !beyond) {
      String part = CodePoints.slice(text, from, to);
      int at = name.startsWith("r") ? part.lastIndexOf(wanted) : part.indexOf(wanted);
      found = at < 0 ? -1 : from + part.codePointCount(0, at);
    }
    if (found < 0 && name.endsWith("index")) {
      throw JinjaException.value("substring not found");
    }
    return found;
  }

  private static Object count(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("count", 2, 4);
    String text = Values.text(a[0]);
    String wanted = text("count", a[1]);
    int length = Values.length(text);
    budget.work(1 + length / 8);
    boolean beyond = Numbers.isInt(a[2]) && Numbers.asLong(a[2]) > length;
    int from = position(a[2], length, 0);
    int to = position(a[3], length, length);
    if (from > to || beyond) {
      return 0L;
    }
    String part = CodePoints.slice(text, from, to);
    if (wanted.isEmpty()) {
      return (long) Values.length(part) + 1;
    }
    long count = 0;
    for (int at = part.indexOf(wanted); at >= 0; at = part.indexOf(wanted, at + wanted.length())) {
      count++;
    }
    return count;
  }

  private static Object replace(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("replace", 3, 4);
    int most = a[3] == Arguments.MISSING ? -1 : Numbers.index(a[3]);
    return replace(budget, Values.text(a[0]), text("replace", a[1]), text("replace", a[2]), most);
  }

  /** Replaces the first occurrences; all of them where {@code most} is negative. */
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

  private static Object justify(Budget budget, Arguments arguments, String name) {
    Object[] a = arguments.bindPositions(name, 2, 3);
    String fill = a[2] == Arguments.MISSING ? " " : text(name, a[2]);
    if (Values.length(fill) != 1) {
      throw JinjaException.type("The fill character must be exactly one character long");
    }
    return justify(budget, name, Values.text(a[0]), Numbers.index(a[1]), fill);
  }

  static String justify(Budget budget, String name, String text, int width, String fill) {
    int length = Values.length(text);
    if (width <= length) {
      return text;
    }
    budget.chars((long) width * fill.length() + text.length());
    int room = width - length;
    int left =
        switch (name) {
          case "ljust" -> 0;
          case "rjust" -> room;
          default -> room / 2 + (room & width & 1);
        };
    return fill.repeat(left) + text + fill.repeat(room - left);
  }

  private static Object zfill(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("zfill", 2, 2);
    String text = Values.text(a[0]);
    String sign = text.startsWith("-") || text.startsWith("+") ? text.substring(0, 1) : "";
    int width = Numbers.index(a[1]) - sign.length();
    return sign + justify(budget, "rjust", text.substring(sign.length()), width, "0");
  }

  private static Object expandTabs(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("expandtabs", 1, "self", "tabsize");
    int size = a[1] == Arguments.MISSING ? 8 : Numbers.index(a[1]);
    StringBuilder out = new StringBuilder();
    int column = 0;
    String text = Values.text(a[0]);
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      if (c == '\t') {
        int blanks = size > 0 ? size - column % size : 0;
        budget.chars(blanks);
        out.append(" ".repeat(blanks));
        column += blanks;
      } else {
        budget.chars(1);
        out.appendCodePoint(c);
        column = c == '\n' || c == '\r' ? 0 : column + 1;
      }
    }
    return out.toString();
  }

  private static Object removed(Arguments arguments, boolean prefix) {
    Object[] a = arguments.bindPositions("remove", 2, 2);
    String text = Values.text(a[0]);
    String affix = text("remove", a[1]);
    if (prefix) {
      return text.startsWith(affix) ? text.substring(affix.length()) : text;
    }
    return text.endsWith(affix) ? text.substring(0, text.length() - affix.length()) : text;
  }
}
