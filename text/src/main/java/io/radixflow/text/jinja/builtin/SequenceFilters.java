package io.radixflow.text.jinja.builtin;

import static io.radixflow.text.jinja.value.Arguments.MISSING;
import static io.radixflow.text.jinja.value.Arguments.or;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.Generator;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Lazy;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Filters that sort, group and join the elements of a value. */
final class SequenceFilters {

  private SequenceFilters() {}

  static void register(Map<String, Invocable> filters) {
    Invocable length = (budget, a) -> (long) Values.length(a.bind("length", 1, "obj")[0]);
    filters.put("length", length);
    filters.put("count", length);
    filters.put("list", (budget, a) -> Values.list(budget, a.bind("list", 1, "value")[0]));
    filters.put("first", SequenceFilters::first);
    filters.put("last", SequenceFilters::last);
    filters.put("join", SequenceFilters::join);
    filters.put("reverse", SequenceFilters::reverse);
    filters.put("sort", SequenceFilters::sort);
    filters.put("unique", SequenceFilters::unique);
    filters.put("min", (budget, a) -> extreme(budget, a, "<"));
    filters.put("max", (budget, a) -> extreme(budget, a, ">"));
    filters.put("sum", SequenceFilters::sum);
    filters.put("batch", SequenceFilters::batch);
    filters.put("slice", SequenceFilters::slice);
    filters.put("groupby", SequenceFilters::groupBy);
    filters.put("items", SequenceFilters::items);
    filters.put("dictsort", SequenceFilters::dictSort);
  }

  private static Object first(Budget budget, Arguments a) {
    Iterator<Object> items = Values.iterate(a.bind("first", 1, "seq")[0]);
    return items.hasNext() ? items.next() : Undefined.because("No first item, sequence was empty.");
  }

  private static Object last(Budget budget, Arguments a) {
    Object value = a.bind("last", 1, "seq")[0];
    if (!Values.isSized(value)) {
      throw JinjaException.type("'%s' object is not reversible", Values.type(value));
    }
    List<Object> items = Values.list(budget, value);
    return items.isEmpty()
        ? Undefined.because("No last item, sequence was empty.")
        : items.get(items.size() - 1);
  }

  private static Object join(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("join", 1, "value", "d", "attribute");
    String separator = Printing.str(budget, or(a[1], ""));
    AttributePath path = AttributePath.of(or(a[2], null), null);
    StringBuilder out = new StringBuilder();
    int index = 0;
    for (Iterator<Object> items = Values.iterate(a[0]); items.hasNext(); index++) {
      String item = Printing.str(budget, path.get(items.next()));
      budget.chars((long) item.length() + separator.length());
      out.append(index == 0 ? "" : separator).append(item);
    }
    return out.toString();
  }

  private static Object reverse(Budget budget, Arguments arguments) {
    Object value = arguments.bind("reverse", 1, "value")[0];
    if (Values.isText(value)) {
      return Operators.slice(budget, value, null, null, -1L);
    }
    if (!Values.isIterable(value)) {
      throw JinjaException.of("FilterArgumentError", "argument must be iterable");
    }
    List<Object> items = Values.list(budget, value);
    Collections.reverse(items);
    return value instanceof Generator ? items : new Generator(items.iterator());
  }

  /**
   * Returns the value by which {@code value} is compared. A text is compared without case unless
   * {@code caseSensitive}.
   */
  private static Object key(Budget budget, Object value, boolean caseSensitive) {
    if (caseSensitive || !Values.isText(value)) {
      return value;
    }
    String text = Values.text(value);
    budget.chars(text.length());
    return LetterCase.lower(text);
  }

  private static Object sort(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("sort", 1, "value", "reverse", "case_sensitive", "attribute");
    boolean caseSensitive = Values.truth(or(a[2], false));
    List<AttributePath> paths = AttributePath.several(or(a[3], null));
    List<Object> items = Values.list(budget, a[0]);
    List<Object> keys = new ArrayList<>();
    for (Object item : items) {
      List<Object> key = new ArrayList<>();
      for (AttributePath path : paths) {
        budget.step();
        key.add(key(budget, path.get(item), caseSensitive));
      }
      keys.add(key);
    }
    return Comparison.sorted(budget, items, keys, Values.truth(or(a[1], false)));
  }

  private static Object dictSort(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("dictsort", 1, "value", "case_sensitive", "by", "reverse");
    Object by = or(a[2], "key");
    if (!by.equals("key") && !by.equals("value")) {
      throw JinjaException.of(
          "FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
    }
    if (!(a[0] instanceof Dict dict)) {
      throw JinjaException.of("AttributeError", "dictsort needs a mapping");
    }
    boolean caseSensitive = Values.truth(or(a[1], false));
    List<Object> items = dict.items();
    List<Object> keys = new ArrayList<>();
    for (Object item : items) {
      Object key = ((Tuple) item).items().get(by.equals("key") ? 0 : 1);
      keys.add(key(budget, key, caseSensitive));
    }
    return Comparison.sorted(budget, items, keys, Values.truth(or(a[3], false)));
  }

  private static Object unique(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("unique", 1, "value", "case_sensitive", "attribute");
    boolean caseSensitive = Values.truth(or(a[1], false));
    AttributePath path = AttributePath.of(or(a[2], null), null);
    Set<Object> seen = new HashSet<>();
    Iterator<Object> items = Values.iterate(a[0]);
    return new Generator(
        new Lazy(
            () -> {
              while (items.hasNext()) {
                budget.items(1);
                Object item = items.next();
                if (seen.add(Dict.hashed(key(budget, path.get(item), caseSensitive)))) {
                  return item;
                }
              }
              return MISSING;
            }));
  }

  private static Object extreme(Budget budget, Arguments arguments, String operator) {
    Object[] a = arguments.bind("min", 1, "value", "case_sensitive", "attribute");
    boolean caseSensitive = Values.truth(or(a[1], false));
    AttributePath path = AttributePath.of(or(a[2], null), null);
    Object best = Undefined.because("No aggregated item, sequence was empty.");
    Object bestKey = MISSING;
    for (Iterator<Object> items = Values.iterate(a[0]); items.hasNext(); ) {
      Object item = items.next();
      Object key = key(budget, path.get(item), caseSensitive);
      if (bestKey == MISSING || Comparison.ordered(budget, operator, key, bestKey)) {
        best = item;
        bestKey = key;
      }
    }
    return best;
  }

  private static Object sum(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("sum", 1, "iterable", "attribute", "start");
    AttributePath path = AttributePath.of(or(a[1], null), null);
    Object sum = or(a[2], 0L);
    if (Values.isText(sum)) {
      throw JinjaException.type("sum() can't sum strings [use ''.join(seq) instead]");
    }
    for (Iterator<Object> items = Values.iterate(a[0]); items.hasNext(); ) {
      budget.step();
      sum = Operators.binary(budget, "+", sum, path.get(items.next()));
    }
    return sum;
  }

  private static Object batch(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("batch", 2, "value", "linecount", "fill_with");
    long size = Numbers.index(a[1]);
    Object fill = or(a[2], null);
    List<Object> batches = new ArrayList<>();
    List<Object> batch = new ArrayList<>();
    for (Object item : Values.list(budget, a[0])) {
      if (batch.size() == size) {
        batches.add(batch);
        batch = new ArrayList<>();
      }
      batch.add(item);
    }
    if (!batch.isEmpty()) {
      if (fill != null && batch.size() < size) {
        budget.items(size);
        batch.addAll(Collections.nCopies((int) size - batch.size(), fill));
      }
      batches.add(batch);
    }
    return new Generator(batches.iterator());
  }

  private static Object slice(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("slice", 2, "value", "slices", "fill_with");
    List<Object> items = Values.list(budget, a[0]);
    int count = Numbers.index(a[1]);
    Object fill = or(a[2], null);
    if (count == 0) {
      throw JinjaException.of("ZeroDivisionError", "integer division or modulo by zero");
    }
    budget.items(Math.max(0, count));
    List<Object> slices = new ArrayList<>();
    int size = Math.floorDiv(items.size(), count);
    int extra = Math.floorMod(items.size(), count);
    int from = 0;
    for (int i = 0; i < count; i++) {
      int to = from + size + (i < extra ? 1 : 0);
      List<Object> slice = new ArrayList<>(items.subList(from, to));
      if (fill != null && i >= extra) {
        slice.add(fill);
      }
      slices.add(slice);
      from = to;
    }
    return new Generator(slices.iterator());
  }

  private static Object groupBy(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("groupby", 2, "value", "attribute", "default", "case_sensitive");
    AttributePath path = AttributePath.of(a[1], or(a[2], null));
    boolean caseSensitive = Values.truth(or(a[3], false));
    List<Object> items = Values.list(budget, a[0]);
    List<Object> keys = new ArrayList<>();
    items.forEach(item -> keys.add(key(budget, path.get(item), caseSensitive)));
    List<Object> groups = new ArrayList<>();
    List<Object> group = new ArrayList<>();
    Object groupKey = MISSING;
    for (Object item : Comparison.sorted(budget, items, keys, false)) {
      Object key = key(budget, path.get(item), caseSensitive);
      if (groupKey == MISSING || !Comparison.equal(budget, key, groupKey)) {
        group = new ArrayList<>();
        groupKey = key;
        List<Object> pair = new ArrayList<>();
        pair.add(path.get(item));
        pair.add(group);
        groups.add(new Tuple(pair, List.of("grouper", "list")));
      }
      group.add(item);
    }
    return groups;
  }

  private static Object items(Budget budget, Arguments arguments) {
    Object value = arguments.bind("items", 1, "value")[0];
    if (!(value instanceof Dict) && !(value instanceof Undefined)) {
      return new Generator(
          new Lazy(
              () -> {
                throw JinjaException.type("Can only get item pairs from a mapping.");
              }));
    }
    List<Object> items = value instanceof Dict dict ? dict.items() : List.of();
    budget.items(items.size());
    return new Generator(items.iterator());
  }
}
