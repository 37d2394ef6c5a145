package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Markup;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Range;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.List;

/** Python's operators on numbers, texts and sequences, and its subscripts. */
public final class Operators {

  private Operators() {}

  /** Computes {@code left operator right}. */
  public static Object binary(Budget budget, String operator, Object left, Object right) {
    if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
      return Numbers.compute(operator, left, right);
    }
    if (operator.equals("%") && Values.isText(left)) {
      return TemplateFormats.percent(budget, Values.text(left), right);
    }
    if (left instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (right instanceof Undefined undefined) {
      throw undefined.failure();
    }
    Object result = null;
    if (operator.equals("+")) {
      result = concatenated(budget, left, right);
    } else if (operator.equals("*")) {
      result = Numbers.isInt(right) ? repeated(budget, left, right) : repeated(budget, right, left);
    }
    if (result == null) {
      throw JinjaException.type(
          "unsupported operand type(s) for %s: '%s' and '%s'",
          operator, Values.type(left), Values.type(right));
    }
    return result;
  }

  private static Object concatenated(Budget budget, Object left, Object right) {
    if (Values.isText(left) && Values.isText(right)) {
      String a = Values.text(left);
      String b = Values.text(right);
      if (left instanceof Markup || right instanceof Markup) {
        a = left instanceof Markup ? a : Markup.escape(budget, a);
        b = right instanceof Markup ? b : Markup.escape(budget, b);
        return new Markup(a + b);
      }
      budget.chars((long) a.length() + b.length());
      return a.concat(b);
    } else if (left instanceof List<?> a && right instanceof List<?> b) {
      return joined(budget, a, b);
    } else if (left instanceof Tuple a && right instanceof Tuple b) {
      return new Tuple(joined(budget, a.items(), b.items()));
    }
    return null;
  }

  private static List<Object> joined(Budget budget, List<?> a, List<?> b) {
    budget.items((long) a.size() + b.size());
    List<Object> list = new ArrayList<>(a.size() + b.size());
    list.addAll(a);
    list.addAll(b);
    return list;
  }

  /** Returns a repeated sequence; null if the operands cannot be multiplied. */
  private static Object repeated(Budget budget, Object sequence, Object count) {
    if (!Numbers.isInt(count)) {
      return null;
    }
    int times = Math.max(0, Numbers.index(count));
    if (Values.isText(sequence)) {
      String text = Values.text(sequence);
      budget.chars((long) text.length() * times);
      String result = text.repeat(text.isEmpty() ? 0 : times);
      return sequence instanceof Markup ? new Markup(result) : result;
    } else if (sequence instanceof List<?> list) {
      return repeated(budget, list, times);
    } else if (sequence instanceof Tuple tuple) {
      return new Tuple(repeated(budget, tuple.items(), times));
    }
    return null;
  }

  private static List<Object> repeated(Budget budget, List<?> items, int times) {
    budget.items((long) items.size() * times);
    List<Object> list = new ArrayList<>(items.size() * times);
    for (int i = 0; i < times && !items.isEmpty(); i++) {
      list.addAll(items);
    }
    return list;
  }

  /** Computes {@code -value} or {@code +value}. */
  public static Object signed(String operator, Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (!Numbers.isNumber(value)) {
      throw JinjaException.type(
          "bad operand type for unary %s: '%s'", operator, Values.type(value));
    } else if (value instanceof Double number) {
      return operator.equals("-") ? -number : number;
    }
    return Numbers.compute(operator, 0L, value);
  }

  /** Returns the element of a sequence or dictionary, or {@link Arguments#MISSING}. */
  static Object element(Object owner, Object index) {
    if (owner instanceof Dict dict) {
      try {
        return dict.get(index);
      } catch (JinjaException e) {
        return Arguments.MISSING; // as in Jinja2, a value that cannot be a key is not found
      }
    }
    boolean sequence = Values.isSized(owner) && isSequence(owner);
    if (!sequence || !Numbers.isInt(index)) {
      return Arguments.MISSING;
    }
    int length = Values.length(owner);
    long at = Numbers.asLong(index);
    at += at < 0 ? length : 0;
    if (at < 0 || at >= length) {
      return Arguments.MISSING;
    }
    if (owner instanceof List<?> list) {
      return list.get((int) at);
    } else if (owner instanceof Tuple tuple) {
      return tuple.items().get((int) at);
    } else if (owner instanceof Range range) {
      return range.get(at);
    }
    return PythonText.slice(Values.text(owner), (int) at, (int) at + 1);
  }

  static boolean isSequence(Object value) {
    return Values.isText(value)
        || value instanceof List
        || value instanceof Tuple
        || value instanceof Range;
  }

  /** Computes {@code owner[start:stop:step]}. Null means that a part is omitted. */
  public static Object slice(Budget budget, Object owner, Object start, Object stop, Object step) {
    if (owner instanceof Undefined undefined) {
      throw undefined.failure();
    }
    if (!isSequence(owner)) {
      throw JinjaException.type("'%s' object cannot be sliced", Values.type(owner));
    }
    long by = step == null ? 1 : Numbers.index(step);
    if (by == 0) {
      throw JinjaException.value("slice step cannot be zero");
    }
    int length = Values.length(owner);
    long from = start == null ? (by < 0 ? length - 1 : 0) : bound(start, length, by < 0);
    long to = stop == null ? (by < 0 ? -1 : length) : bound(stop, length, by < 0);
    if (owner instanceof Range range) {
      return range.slice(from, to, by);
    }
    return slice(budget, owner, from, to, by);
  }

  private static long bound(Object index, int length, boolean backwards) {
    long at = Numbers.index(index);
    at += at < 0 ? length : 0;
    long least = backwards ? -1 : 0;
    return Math.max(least, Math.min(at, length + least));
  }

  private static Object slice(Budget budget, Object owner, long from, long to, long by) {
    if (Values.isText(owner)) {
      String text = Values.text(owner);
      budget.chars(text.length());
      if (by == 1) {
        return from < to ? PythonText.slice(text, (int) from, (int) to) : "";
      }
      int[] points = text.codePoints().toArray();
      StringBuilder out = new StringBuilder();
      for (long i = from; by > 0 ? i < to : i > to; i += by) {
        out.appendCodePoint(points[(int) i]);
      }
      return out.toString();
    }
    List<?> items = owner instanceof Tuple tuple ? tuple.items() : (List<?>) owner;
    budget.items(items.size());
    List<Object> list = new ArrayList<>();
    for (long i = from; by > 0 ? i < to : i > to; i += by) {
      list.add(items.get((int) i));
    }
    return owner instanceof Tuple ? new Tuple(list) : list;
  }
}
