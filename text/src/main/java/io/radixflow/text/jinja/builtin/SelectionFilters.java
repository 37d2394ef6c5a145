package io.radixflow.text.jinja.builtin;

import static io.radixflow.text.jinja.value.Arguments.MISSING;
import static io.radixflow.text.jinja.value.Arguments.or;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Generator;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Lazy;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Filters that select or convert elements by attributes, tests and other filters. */
final class SelectionFilters {

  private SelectionFilters() {}

  static void register(Map<String, Invocable> filters) {
    filters.put("default", SelectionFilters::otherwise);
    filters.put("d", SelectionFilters::otherwise);
    filters.put("map", SelectionFilters::map);
    filters.put("select", (budget, a) -> select(budget, a, false, true));
    filters.put("reject", (budget, a) -> select(budget, a, false, false));
    filters.put("selectattr", (budget, a) -> select(budget, a, true, true));
    filters.put("rejectattr", (budget, a) -> select(budget, a, true, false));
  }

  private static Object otherwise(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("default", 1, "value", "default_value", "boolean");
    boolean replaced =
        a[0] instanceof Undefined || Values.truth(or(a[2], false)) && !Values.truth(a[0]);
    return replaced ? or(a[1], "") : a[0];
  }

  private static Arguments with(Object item, Arguments rest) {
    List<Object> positional = new ArrayList<>(rest.positional().size() + 1);
    positional.add(item);
    positional.addAll(rest.positional());
    return new Arguments(positional, rest.named());
  }

  /** Returns the elements one by one. Nothing is computed until the first one is requested. */
  private static Generator each(
      Budget budget, Object value, UnaryOperator<Object> change, Predicate<Object> accepts) {
    Iterator<?>[] items = new Iterator<?>[1];
    return new Generator(
        new Lazy(
            () -> {
              if (items[0] == null) {
                items[0] = Values.truth(value) ? Values.iterate(value) : List.of().iterator();
              }
              while (items[0].hasNext()) {
                budget.step();
                Object item = items[0].next();
                if (accepts.test(item)) {
                  return change.apply(item);
                }
              }
              return MISSING;
            }));
  }

  private static Object map(Budget budget, Arguments arguments) {
    Object value = arguments.positional().get(0);
    Arguments rest = arguments.from(1);
    if (rest.positional().isEmpty() && rest.named().containsKey("attribute")) {
      AttributePath path =
          AttributePath.of(rest.named().get("attribute"), rest.named().get("default"));
      rest.named().keySet().stream()
          .filter(name -> !name.equals("attribute") && !name.equals("default"))
          .findFirst()
          .ifPresent(
              name -> {
                throw JinjaException.of(
                    "FilterArgumentError", "Unexpected keyword argument '%s'", name);
              });
      return each(budget, value, path::get, item -> true);
    }
    return each(budget, value, item -> mapped(budget, item, rest), item -> true);
  }

  private static Object mapped(Budget budget, Object item, Arguments rest) {
    if (rest.positional().isEmpty()) {
      throw JinjaException.of("FilterArgumentError", "map requires a filter argument");
    }
    String name = StringMethods.text("map", rest.positional().get(0));
    return Builtins.filter(budget, name, with(item, rest.from(1)));
  }

  private static Object select(
      Budget budget, Arguments arguments, boolean byAttribute, boolean wanted) {
    Object value = arguments.positional().get(0);
    Arguments rest = arguments.from(1);
    return each(
        budget,
        value,
        item -> item,
        item -> {
          Object tested = item;
          if (byAttribute) {
            if (rest.positional().isEmpty()) {
              throw JinjaException.of(
                  "FilterArgumentError", "Missing parameter for attribute name");
            }
            tested = AttributePath.of(rest.positional().get(0), null).get(item);
          }
          return holds(budget, tested, rest.from(byAttribute ? 1 : 0)) == wanted;
        });
  }

  private static boolean holds(Budget budget, Object item, Arguments test) {
    if (test.positional().isEmpty()) {
      return Values.truth(item);
    }
    String name = StringMethods.text("select", test.positional().get(0));
    return Builtins.test(budget, name, with(item, test.from(1)));
  }
}
