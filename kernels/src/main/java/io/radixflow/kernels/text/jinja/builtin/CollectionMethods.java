package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.Comparison;
import io.radixflow.kernels.text.jinja.value.Dict;
import io.radixflow.kernels.text.jinja.value.DictView;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Numbers;
import io.radixflow.kernels.text.jinja.value.Tuple;
import io.radixflow.kernels.text.jinja.value.Values;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Methods of lists, tuples, ranges, dictionaries and numbers that change nothing. */
final class CollectionMethods {
  static final Map<String, Invocable> OF_SEQUENCE =
      Map.of("count", CollectionMethods::count, "index", CollectionMethods::index);
  static final Map<String, Invocable> OF_LIST =
      Map.of(
          "count",
          CollectionMethods::count,
          "index",
          CollectionMethods::index,
          "copy",
          (budget, a) -> Values.list(budget, a.bindPositions("copy", 1, 1)[0]));
  static final Map<String, Invocable> OF_DICT =
      Map.of(
          "get",
          CollectionMethods::get,
          "keys",
          (budget, a) -> view(budget, a, "keys"),
          "values",
          (budget, a) -> view(budget, a, "values"),
          "items",
          (budget, a) -> view(budget, a, "items"),
          "copy",
          (budget, a) -> copy(budget, (Dict) a.bindPositions("copy", 1, 1)[0]));

  private CollectionMethods() {}

  private static Object count(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("count", 2, 2);
    long count = 0;
    for (Iterator<Object> items = Values.iterate(a[0]); items.hasNext(); ) {
      count += Comparison.equal(budget, items.next(), a[1]) ? 1 : 0;
    }
    return count;
  }

  private static Object index(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("index", 2, 4);
    List<Object> items = Values.list(budget, a[0]);
    int from = StringMethods.position(a[2], items.size(), 0);
    int to = StringMethods.position(a[3], items.size(), items.size());
    for (int i = from; i < to; i++) {
      if (Comparison.equal(budget, items.get(i), a[1])) {
        return (long) i;
      }
    }
    throw JinjaException.value("the value is not in the %s", Values.type(a[0]));
  }

  private static Object get(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("get", 2, 3);
    Object found = ((Dict) a[0]).get(a[1]);
    return found == Arguments.MISSING ? Arguments.or(a[2], null) : found;
  }

  private static Object view(Budget budget, Arguments arguments, String name) {
    Dict dict = (Dict) arguments.bindPositions(name, 1, 1)[0];
    budget.items(dict.size());
    return new DictView(
        name,
        switch (name) {
          case "keys" -> dict.keys();
          case "values" -> dict.values();
          default -> dict.items();
        });
  }

  static Dict copy(Budget budget, Dict dict) {
    budget.items(2L * dict.size());
    Dict copy = new Dict();
    for (Object item : dict.items()) {
      copy.put(((Tuple) item).items().get(0), ((Tuple) item).items().get(1));
    }
    return copy;
  }

  static Object ofNumber(Object number, String name) {
    return switch (name) {
      case "real" -> number instanceof Boolean ? (Object) Numbers.asLong(number) : number;
      case "imag" -> number instanceof Double ? (Object) 0.0 : (Object) 0L;
      case "is_integer" ->
          number instanceof Double d
              ? (Invocable) (budget, a) -> !d.isInfinite() && d % 1 == 0
              : Arguments.MISSING;
      case "bit_length" ->
          number instanceof Double
              ? Arguments.MISSING
              : (Invocable) (budget, a) -> (long) Numbers.big(number).abs().bitLength();
      default -> Arguments.MISSING;
    };
  }
}
