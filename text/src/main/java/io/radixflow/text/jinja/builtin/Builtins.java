package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Values;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** All filters and tests, by name. */
public final class Builtins {
  private static final Map<String, Invocable> FILTERS = new HashMap<>();
  private static final Map<String, Invocable> TESTS = new HashMap<>();

  /** Python's methods that models' templates do not use. */
  private static final Set<String> REFUSED_METHODS =
      Set.of(
          ("casefold swapcase center ljust rjust zfill expandtabs partition rpartition index rindex"
                  + " copy encode decode format_map removeprefix removesuffix translate"
                  + " isspace isalpha isalnum isdigit isdecimal isnumeric isascii isprintable"
                  + " isidentifier isupper islower istitle")
              .split(" "));

  private Builtins() {}

  static {
    TextFilters.register(FILTERS);
    HtmlFilters.register(FILTERS);
    NumberFilters.register(FILTERS);
    SequenceFilters.register(FILTERS);
    SelectionFilters.register(FILTERS);
    FILTERS.put("tojson", JsonFilter::filter);
    Tests.register(TESTS);
  }

  public static boolean hasFilter(String name) {
    return FILTERS.containsKey(name);
  }

  public static boolean hasTest(String name) {
    return TESTS.containsKey(name);
  }

  /** Returns whether this is one of Python's methods that is not supported. */
  public static boolean refusesMethod(String name) {
    return REFUSED_METHODS.contains(name);
  }

  /** Applies a filter. The first argument is the value to filter. */
  public static Object filter(Budget budget, String name, Arguments arguments) {
    Invocable filter = FILTERS.get(name);
    if (filter == null) {
      throw JinjaException.of("TemplateRuntimeError", "the filter '%s' is not supported", name);
    }
    return filter.call(budget, arguments);
  }

  /** Applies a test. The first argument is the value to test. */
  public static boolean test(Budget budget, String name, Arguments arguments) {
    Invocable test = TESTS.get(name);
    if (test == null) {
      throw JinjaException.of("TemplateRuntimeError", "the test '%s' is not supported", name);
    }
    return Values.truth(test.call(budget, arguments));
  }
}
