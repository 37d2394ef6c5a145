package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.HasAttributes;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;

/** The variable {@code loop} in a loop. */
final class LoopContext implements HasAttributes, Invocable {
  private final Budget budget;
  private final int depth;
  private final UnaryOperator<Object> descend;
  private Iterator<Object> items;
  private int length;
  private int index = -1;
  private Object previous = Arguments.MISSING;
  private Object current = Arguments.MISSING;
  private List<Object> lastChanged;

  /** The element after the current one, if it was already read. */
  private Object following = Arguments.MISSING;

  /**
   * @param length number of elements; negative if unknown
   * @param descend runs the loop one level deeper; null unless the loop is recursive
   */
  LoopContext(
      Budget budget, Iterator<Object> items, int length, int depth, UnaryOperator<Object> descend) {
    this.budget = budget;
    this.items = items;
    this.length = length;
    this.depth = depth;
    this.descend = descend;
  }

  boolean hasNext() {
    return following != Arguments.MISSING || items.hasNext();
  }

  Object advance() {
    previous = current;
    current = following != Arguments.MISSING ? following : items.next();
    following = Arguments.MISSING;
    index++;
    return current;
  }

  private Object following() {
    if (following == Arguments.MISSING && items.hasNext()) {
      following = items.next();
    }
    return following;
  }

  private long length() {
    if (length < 0) {
      List<Object> rest = new ArrayList<>();
      while (items.hasNext()) {
        budget.items(1);
        rest.add(items.next());
      }
      length = rest.size() + index + 1 + (following == Arguments.MISSING ? 0 : 1);
      items = rest.iterator();
    }
    return length;
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "index0" -> (long) index;
      case "index" -> index + 1L;
      case "revindex0" -> length() - index - 1;
      case "revindex" -> length() - index;
      case "length" -> length();
      case "first" -> index == 0;
      case "last" -> following() == Arguments.MISSING;
      case "depth0" -> (long) depth;
      case "depth" -> depth + 1L;
      case "previtem" ->
          index == 0 ? Undefined.because("the first item has no previous item") : previous;
      case "nextitem" ->
          following() == Arguments.MISSING
              ? Undefined.because("the last item has no next item")
              : following;
      case "cycle" -> (Invocable) (ignored, a) -> cycle(a.bindAll("cycle"));
      case "changed" -> (Invocable) (ignored, a) -> changed(a.bindAll("changed"));
      default -> Arguments.MISSING;
    };
  }

  private Object cycle(List<Object> values) {
    if (values.isEmpty()) {
      throw JinjaException.type("no items for cycling given");
    }
    return values.get(index % values.size());
  }

  private Object changed(List<Object> values) {
    boolean same = lastChanged != null && Comparison.equal(budget, lastChanged, values);
    lastChanged = values;
    return !same;
  }

  @Override
  public Object call(Budget callersBudget, Arguments arguments) {
    if (descend == null) {
      throw JinjaException.type(
          "The loop must have the 'recursive' marker to be called recursively.");
    }
    return descend.apply(arguments.bind("loop", 1, "iterable")[0]);
  }

  @Override
  public String toString() {
    return "<LoopContext " + (index + 1) + "/" + length() + ">";
  }
}
