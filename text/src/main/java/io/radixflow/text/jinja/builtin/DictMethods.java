package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.DictView;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.Tuple;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Methods of dictionaries that do not change them. */
final class DictMethods {
  static final Map<String, Invocable> ALL =
      Map.of(
          "get",
          DictMethods::get,
          "keys",
          view("keys", Dict::keys),
          "values",
          view("values", Dict::values),
          "items",
          view("items", Dict::items));

  private DictMethods() {}

  private static Object get(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("get", 2, 3);
    Object found = ((Dict) a[0]).get(a[1]);
    return found == Arguments.MISSING ? Arguments.or(a[2], null) : found;
  }

  private static Invocable view(String name, Function<Dict, List<Object>> part) {
    return (budget, arguments) -> {
      Dict dict = (Dict) arguments.bindPositions(name, 1, 1)[0];
      budget.items(dict.size());
      return new DictView(name, part.apply(dict));
    };
  }

  static Dict copy(Budget budget, Dict dict) {
    budget.items(2L * dict.size());
    Dict copy = new Dict();
    for (Object item : dict.items()) {
      copy.put(((Tuple) item).items().get(0), ((Tuple) item).items().get(1));
    }
    return copy;
  }
}
