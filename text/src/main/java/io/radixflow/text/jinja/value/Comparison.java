package io.radixflow.text.jinja.value;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Python's comparisons, and operations that use them. */
public final class Comparison {

  private Comparison() {}

  /** Returns whether two values are equal. Values of different kinds are not equal. */
  public static boolean equal(Budget budget, Object a, Object b) {
    budget.step();
    if (a == b) {
      return !(a instanceof Double number && number.isNaN());
    } else if (Values.isText(a) && Values.isText(b)) {
      return Values.text(a).equals(Values.text(b));
    } else if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      return numbersEqual(a, b);
    } else if (a instanceof List<?> x && b instanceof List<?> y) {
      return listsEqual(budget, x, y);
    } else if (a instanceof Tuple x && b instanceof Tuple y) {
      return listsEqual(budget, x.items(), y.items());
    } else if (a instanceof Dict x && b instanceof Dict y) {
      return dictsEqual(budget, x, y);
    } else if (a instanceof Range x && b instanceof Range y) {
      return listsEqual(budget, Values.list(budget, x), Values.list(budget, y));
    }
    return a instanceof Undefined && b instanceof Undefined;
  }

  private static boolean numbersEqual(Object a, Object b) {
    if (a instanceof BigInteger || b instanceof BigInteger) {
      return a.equals(b);
    }
    Integer order = order(a, b);
    return order != null && order == 0;
  }

  private static boolean listsEqual(Budget budget, List<?> a, List<?> b) {
    if (a.size() != b.size()) {
      return false;
    }
    budget.enter();
    for (int i = 0; i < a.size(); i++) {
      if (a.get(i) != b.get(i) && !equal(budget, a.get(i), b.get(i))) {
        return false;
      }
    }
    budget.leave();
    return true;
  }

  private static boolean dictsEqual(Budget budget, Dict a, Dict b) {
    if (a.size() != b.size()) {
      return false;
    }
    budget.enter();
    for (Map.Entry<Object, Object> entry : a.entries()) {
      Object other = b.get(entry.getKey());
      if (other == Arguments.MISSING || !equal(budget, entry.getValue(), other)) {
        budget.leave();
        return false;
      }
    }
    budget.leave();
    return true;
  }

  /** Returns the order of two numbers; null if one is not a number. */
  private static Integer order(Object a, Object b) {
    if (Numbers.isInt(a) && Numbers.isInt(b)) {
      return Long.compare(Numbers.asLong(a), Numbers.asLong(b));
    }
    boolean finite =
        !(a instanceof Double x && !Double.isFinite(x))
            && !(b instanceof Double y && !Double.isFinite(y));
    if (finite) {
      return Numbers.exact(a).compareTo(Numbers.exact(b));
    }
    double x = a instanceof Double d ? d : 0;
    double y = b instanceof Double d ? d : 0;
    return Double.isNaN(x) || Double.isNaN(y) ? null : (Integer) Double.compare(x, y);
  }

  /**
   * Computes {@code a operator b}, where the operator is {@code <}, {@code <=}, {@code >} or {@code
   * >=}.
   */
  public static boolean ordered(Budget budget, String operator, Object a, Object b) {
    budget.step();
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      Integer order = order(a, b);
      return order != null && holds(operator, order);
    } else if (Values.isText(a) && Values.isText(b)) {
      return holds(operator, compareTexts(Values.text(a), Values.text(b)));
    } else if (a instanceof List<?> x && b instanceof List<?> y) {
      return listsOrdered(budget, operator, x, y);
    } else if (a instanceof Tuple x && b instanceof Tuple y) {
      return listsOrdered(budget, operator, x.items(), y.items());
    }
    if (a instanceof Undefined undefined) {
      throw undefined.failure();
    } else if (b instanceof Undefined undefined) {
      throw undefined.failure();
    }
    throw JinjaException.type(
        "'%s' not supported between instances of '%s' and '%s'",
        operator, Values.type(a), Values.type(b));
  }

  private static boolean listsOrdered(Budget budget, String operator, List<?> a, List<?> b) {
    budget.enter();
    try {
      for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
        if (!equal(budget, a.get(i), b.get(i))) {
          return ordered(budget, operator, a.get(i), b.get(i));
        }
      }
      return holds(operator, Integer.compare(a.size(), b.size()));
    } finally {
      budget.leave();
    }
  }

  private static boolean holds(String operator, int order) {
    return switch (operator) {
      case "<" -> order < 0;
      case "<=" -> order <= 0;
      case ">" -> order > 0;
      default -> order >= 0;
    };
  }

  /** Compares by code points. Java's order is different for surrogates. */
  private static int compareTexts(String a, String b) {
    for (int i = 0; i < Math.min(a.length(), b.length()); i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean both = Character.isSurrogate(x) == Character.isSurrogate(y);
        return both ? x - y : Character.isSurrogate(x) ? 1 : -1;
      }
    }
    return a.length() - b.length();
  }

  /** Returns {@code item in container}. */
  public static boolean contains(Budget budget, Object container, Object item) {
    if (Values.isText(container)) {
      if (item instanceof Undefined undefined) {
        throw JinjaException.type("'in <string>' requires string as left operand, not Undefined");
      }
      if (!Values.isText(item)) {
        throw JinjaException.type(
            "'in <string>' requires string as left operand, not %s", Values.type(item));
      }
      String text = Values.text(container);
      budget.work(1 + (text.length() >> 3));
      return text.contains(Values.text(item));
    } else if (container instanceof Dict dict) {
      return dict.get(item) != Arguments.MISSING;
    } else if (!Values.isIterable(container)) {
      throw JinjaException.type("argument of type '%s' is not iterable", Values.type(container));
    }
    for (Iterator<Object> items = Values.iterate(container); items.hasNext(); ) {
      if (equal(budget, items.next(), item)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the items sorted by their keys. Items with equal keys keep their order.
   *
   * @param keys one key per item
   */
  public static List<Object> sorted(
      Budget budget, List<Object> items, List<Object> keys, boolean reverse) {
    budget.items(2L * items.size());
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      order.add(reverse ? items.size() - 1 - i : i);
    }
    List<Integer> sorted = mergeSorted(budget, order, keys);
    if (reverse) {
      Collections.reverse(sorted);
    }
    List<Object> result = new ArrayList<>(items.size());
    sorted.forEach(i -> result.add(items.get(i)));
    return result;
  }

  private static List<Integer> mergeSorted(Budget budget, List<Integer> order, List<Object> keys) {
    if (order.size() < 2) {
      return new ArrayList<>(order);
    }
    int middle = order.size() / 2;
    List<Integer> left = mergeSorted(budget, order.subList(0, middle), keys);
    List<Integer> right = mergeSorted(budget, order.subList(middle, order.size()), keys);
    List<Integer> merged = new ArrayList<>(order.size());
    int i = 0;
    int j = 0;
    while (i < left.size() && j < right.size()) {
      boolean second = ordered(budget, "<", keys.get(right.get(j)), keys.get(left.get(i)));
      merged.add(second ? right.get(j++) : left.get(i++));
    }
    merged.addAll(left.subList(i, left.size()));
    merged.addAll(right.subList(j, right.size()));
    return merged;
  }
}
