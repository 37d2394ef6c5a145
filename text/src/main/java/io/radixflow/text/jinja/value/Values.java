package io.radixflow.text.jinja.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Operations on values of any type: type name, truth, length, elements. */
public final class Values {
  private static final int DEEPEST_INPUT = 100;

  private Values() {}

  /** Returns the name of the value's type in Python. */
  public static String type(Object value) {
    if (value == null) {
      return "NoneType";
    } else if (value instanceof String) {
      return "str";
    } else if (value instanceof Boolean) {
      return "bool";
    } else if (value instanceof Long || value instanceof BigInteger) {
      return "int";
    } else if (value instanceof Double) {
      return "float";
    } else if (value instanceof List) {
      return "list";
    } else if (value instanceof DictView view) {
      return "dict_" + view.name();
    } else if (value instanceof Method) {
      return "builtin_function_or_method";
    }
    String name = value.getClass().getSimpleName();
    return value instanceof Dict
            || value instanceof Tuple
            || value instanceof Range
            || value instanceof Generator
        ? name.toLowerCase(java.util.Locale.ROOT)
        : name;
  }

  /** Returns whether the value is true in Python. */
  public static boolean truth(Object value) {
    if (value instanceof Boolean flag) {
      return flag;
    } else if (value == null || value instanceof Undefined) {
      return false;
    } else if (value instanceof Number) {
      return !(value instanceof Long number ? number == 0 : ((Number) value).doubleValue() == 0);
    } else if (isText(value)) {
      return !text(value).isEmpty();
    }
    return !isSized(value) || length(value) > 0;
  }

  public static boolean isText(Object value) {
    return value instanceof String || value instanceof Markup;
  }

  /** Returns the text of a str. */
  public static String text(Object value) {
    return value instanceof Markup markup ? markup.text() : (String) value;
  }

  public static boolean isSized(Object value) {
    return isText(value)
        || value instanceof List
        || value instanceof Tuple
        || value instanceof Dict
        || value instanceof DictView
        || value instanceof Range
        || value instanceof Undefined;
  }

  /** Returns {@code len(value)}. */
  public static int length(Object value) {
    if (isText(value)) {
      String text = text(value);
      return text.codePointCount(0, text.length());
    } else if (value instanceof List<?> list) {
      return list.size();
    } else if (value instanceof Tuple tuple) {
      return tuple.items().size();
    } else if (value instanceof Dict dict) {
      return dict.size();
    } else if (value instanceof DictView view) {
      return view.items().size();
    } else if (value instanceof Range range) {
      return range.length();
    } else if (value instanceof Undefined) {
      return 0;
    }
    throw JinjaException.type("object of type '%s' has no len()", type(value));
  }

  public static boolean isIterable(Object value) {
    return isSized(value) || value instanceof Generator;
  }

  /**
   * Returns the elements of a value: the keys of a dictionary, the characters of a text.
   *
   * @throws JinjaException if the value is not iterable
   */
  public static Iterator<Object> iterate(Object value) {
    if (value instanceof Generator generator) {
      return generator.items();
    } else if (value instanceof List<?> list) {
      return Collections.<Object>unmodifiableList(list).iterator();
    } else if (value instanceof Tuple tuple) {
      return tuple.items().iterator();
    } else if (value instanceof Dict dict) {
      return dict.keys().iterator();
    } else if (value instanceof DictView view) {
      return view.items().iterator();
    } else if (value instanceof Range range) {
      return range.iterator();
    } else if (value instanceof Undefined) {
      return Collections.emptyIterator();
    } else if (isText(value)) {
      return text(value).codePoints().<Object>mapToObj(Character::toString).iterator();
    }
    throw JinjaException.type("'%s' object is not iterable", type(value));
  }

  /** Returns the elements of a value as a new list. */
  public static List<Object> list(Budget budget, Object value) {
    if (isSized(value)) {
      budget.items(length(value));
    }
    List<Object> list = new ArrayList<>();
    for (Iterator<Object> items = iterate(value); items.hasNext(); ) {
      if (!isSized(value)) {
        budget.items(1);
      }
      list.add(items.next());
    }
    return list;
  }

  /**
   * Converts JSON values: maps, lists, texts, numbers, booleans, null. Keeps the order of keys.
   *
   * @throws JinjaException if the value is nested too deep or has another type
   */
  public static Object of(Object value) {
    return of(value, 0);
  }

  private static Object of(Object value, int depth) {
    if (depth > DEEPEST_INPUT) {
      throw JinjaException.limit("the conversation's data is nested too deep");
    }
    if (value instanceof Map<?, ?> map) {
      Dict dict = new Dict();
      map.forEach((key, item) -> dict.put(key, of(item, depth + 1)));
      return dict;
    } else if (value instanceof List<?> list) {
      List<Object> items = new ArrayList<>(list.size());
      list.forEach(item -> items.add(of(item, depth + 1)));
      return items;
    } else if (value instanceof Number number) {
      return number(number);
    } else if (value == null
        || value instanceof String
        || value instanceof Boolean
        || value instanceof Invocable) {
      return value;
    }
    throw JinjaException.type("a template cannot be given a %s", value.getClass().getName());
  }

  private static Object number(Number number) {
    if (number instanceof BigInteger big) {
      return big.bitLength() < Long.SIZE ? (Object) big.longValue() : big;
    } else if (number instanceof Double
        || number instanceof Float
        || number instanceof BigDecimal) {
      return number.doubleValue();
    }
    return number.longValue();
  }
}
