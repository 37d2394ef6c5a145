package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Arguments;
import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.Invocable;
import io.radixflow.kernels.text.jinja.value.JinjaException;
import io.radixflow.kernels.text.jinja.value.Values;
import java.util.HashMap;
import java.util.Map;

/** All filters and tests by their names. */
public final class Builtins {
  private static final Map<String, Invocable> FILTERS = new HashMap<>();
  private static final Map<String, Invocable> TESTS = new HashMap<>();

  private Builtins() {}

  static {
    TextFilters.register(FILTERS);
    HtmlFilters.register(FILTERS);
    NumberFilters.register(FILTERS);
    SequenceFilters.register(FILTERS);
    SelectionFilters.register(FILTERS);
    FILTERS.put("tojson", JsonText::filter);
    Tests.register(TESTS);
  }

  static boolean hasFilter(Object name) {
    return FILTERS.containsKey(name);
  }

  static boolean hasTest(Object name) {
    return TESTS.containsKey(name);
  }

  /** Applies a filter; the first argument is the filtered value. */
  public static Object filter(Budget budget, String name, Arguments arguments) {
    Invocable filter = FILTERS.get(name);
    if (filter == null) {
      throw JinjaException.of("TemplateRuntimeError", "No filter named '%s' found.", name);
    }
    return filter.call(budget, arguments);
  }

  /** Applies a test; the first argument is the tested value. */
  public static boolean test(Budget budget, String name, Arguments arguments) {
    Invocable test = TESTS.get(name);
    if (test == null) {
      throw JinjaException.of("TemplateRuntimeError", "No test named '%s' found.", name);
    }
    return Values.truth(test.call(budget, arguments));
  }
}
