package io.radixflow.text.jinja.value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The arguments of one call: by position, and by name in the order of the call. */
public record Arguments(List<Object> positional, Map<String, Object> named) {

  /** Stands for an argument that was not given; differs from None and from an undefined value. */
  public static final Object MISSING = new Object();

  public static Arguments of(Object... positional) {
    return new Arguments(Arrays.asList(positional), Map.of());
  }

  Arguments withFirst(Object first) {
    List<Object> all = new ArrayList<>(positional.size() + 1);
    all.add(first);
    all.addAll(positional);
    return new Arguments(all, named);
  }

  /** Returns the arguments after the first ones. */
  public Arguments from(int index) {
    return new Arguments(
        positional.subList(Math.min(index, positional.size()), positional.size()), named);
  }

  /**
   * Brings the arguments to the order of a function's parameters, with {@link #MISSING} where one
   * was not given.
   *
   * @param required how many of the parameters must be given
   */
  public Object[] bind(String function, int required, String... parameters) {
    if (positional.size() > parameters.length) {
      throw JinjaException.type(
          "%s() takes %d arguments, %d were given", function, parameters.length, positional.size());
    }
    Object[] bound = positional.toArray(new Object[parameters.length]);
    Arrays.fill(bound, positional.size(), bound.length, MISSING);
    for (Map.Entry<String, Object> entry : named.entrySet()) {
      int at = Arrays.asList(parameters).indexOf(entry.getKey());
      if (at < 0) {
        throw JinjaException.type(
            "%s() got an unexpected keyword argument '%s'", function, entry.getKey());
      }
      if (bound[at] != MISSING) {
        throw JinjaException.type(
            "%s() got multiple values for argument '%s'", function, entry.getKey());
      }
      bound[at] = entry.getValue();
    }
    for (int i = 0; i < required; i++) {
      if (bound[i] == MISSING) {
        throw JinjaException.type("%s() misses the argument '%s'", function, parameters[i]);
      }
    }
    return bound;
  }

  /** Returns all arguments of a function that takes any number of them, none by name. */
  public List<Object> bindAll(String function) {
    return Arrays.asList(bindPositions(function, 0, positional.size()));
  }

  /** Checks the arguments of a function that takes none by name. */
  public Object[] bindPositions(String function, int required, int most) {
    if (!named.isEmpty()) {
      throw JinjaException.type("%s() takes no keyword arguments", function);
    }
    if (positional.size() < required || positional.size() > most) {
      throw JinjaException.type("%s() was given %d arguments", function, positional.size());
    }
    Object[] bound = positional.toArray(new Object[most]);
    Arrays.fill(bound, positional.size(), most, MISSING);
    return bound;
  }

  /** Returns the value, or the default if it was not given. */
  public static Object or(Object value, Object otherwise) {
    return value == MISSING ? otherwise : value;
  }
}
