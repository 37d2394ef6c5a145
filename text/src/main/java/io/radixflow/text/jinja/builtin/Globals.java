package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.HasAttributes;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Namespace;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Range;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Values;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** The functions that every template can use. */
public final class Globals {
  private static final long ONE = 1L;

  private Globals() {}

  /** Returns the functions by name; {@code now} is the time for {@code strftime_now}. */
  public static Map<String, Object> at(LocalDateTime now) {
    Map<String, Invocable> functions = new HashMap<>();
    functions.put("range", Globals::range);
    functions.put("dict", Globals::dict);
    functions.put("namespace", Globals::namespace);
    functions.put("cycler", (budget, a) -> new Cycler(a.bindAll("cycler")));
    functions.put("joiner", (budget, a) -> new Joiner(a.bind("joiner", 0, "sep")[0]));
    functions.put("raise_exception", Globals::raise);
    functions.put(
        "strftime_now",
        (budget, a) ->
            Strftime.format(
                budget,
                StringMethods.text("strftime_now", a.bind("strftime_now", 1, "format")[0]),
                now));
    return new HashMap<>(functions);
  }

  private static Object raise(Budget budget, Arguments arguments) {
    throw JinjaException.raised(
        Printing.str(budget, arguments.bind("raise_exception", 1, "message")[0]));
  }

  private static Object range(Budget budget, Arguments arguments) {
    Object[] a = arguments.bindPositions("range", 1, 3);
    for (Object bound : a) {
      if (bound != Arguments.MISSING) {
        Numbers.index(bound);
      }
    }
    return a[1] == Arguments.MISSING
        ? new Range(0, Numbers.asLong(a[0]), ONE)
        : new Range(
            Numbers.asLong(a[0]), Numbers.asLong(a[1]), Numbers.asLong(Arguments.or(a[2], ONE)));
  }

  private static Object dict(Budget budget, Arguments arguments) {
    Dict dict = new Dict();
    List<Object> positional = arguments.positional();
    if (positional.size() > 1) {
      throw JinjaException.type("dict expected at most 1 argument, got %d", positional.size());
    }
    if (!positional.isEmpty() && positional.get(0) instanceof Dict given) {
      dict = DictMethods.copy(budget, given);
    } else if (!positional.isEmpty()) {
      for (Iterator<Object> pairs = Values.iterate(positional.get(0)); pairs.hasNext(); ) {
        List<Object> pair = Values.list(budget, pairs.next());
        if (pair.size() != 2) {
          throw JinjaException.value("a dictionary needs pairs; 2 is required");
        }
        dict.put(pair.get(0), pair.get(1));
      }
    }
    budget.items(2L * arguments.named().size());
    arguments.named().forEach(dict::put);
    return dict;
  }

  private static Object namespace(Budget budget, Arguments arguments) {
    Namespace namespace = new Namespace();
    for (Object item : ((Dict) dict(budget, arguments)).items()) {
      Tuple pair = (Tuple) item;
      namespace.set(Printing.str(budget, pair.items().get(0)), pair.items().get(1));
    }
    return namespace;
  }

  /** Returns its items in turn. */
  private static final class Cycler implements HasAttributes {
    private final List<Object> items;
    private int at;

    Cycler(List<Object> items) {
      this.items = items;
      if (items.isEmpty()) {
        throw JinjaException.of("RuntimeError", "at least one item has to be provided");
      }
    }

    @Override
    public Object attribute(String name) {
      return switch (name) {
        case "current" -> items.get(at);
        case "next" -> (Invocable) (budget, a) -> next();
        case "reset" -> (Invocable) (budget, a) -> reset();
        default -> Arguments.MISSING;
      };
    }

    private Object next() {
      Object item = items.get(at);
      at = (at + 1) % items.size();
      return item;
    }

    private Object reset() {
      at = 0;
      return null;
    }

    @Override
    public String toString() {
      return "<Cycler>";
    }
  }

  /** Returns an empty text the first time, and its separator afterwards. */
  private static final class Joiner implements Invocable {
    private final Object separator;
    private boolean used;

    Joiner(Object separator) {
      this.separator = Arguments.or(separator, ", ");
    }

    @Override
    public Object call(Budget budget, Arguments arguments) {
      arguments.bind("joiner", 0);
      Object result = used ? separator : "";
      used = true;
      return result;
    }
  }
}
