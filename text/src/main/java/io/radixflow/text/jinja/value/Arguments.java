package io.radixflow.text.jinja.value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The arguments of one call: positional arguments, and named arguments in the order of the call.
 */
public record Arguments(List<Object> positional, Map<String, Object> named) {

  /**
   * Means that an argument was not given. It is different from None and from an undefined value.
   */
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

  /** Returns the arguments from position {@code index} on, and all named arguments. */
  public Arguments from(int index) {
    return new Arguments(
        positional.subList(Math.min(index, positional.size()), positional.size()), named);
  }

  /**
   * Puts the arguments into the order of a function's parameters. An argument that was not given is
   * {@link #MISSING}.
   *
   * @param required number of parameters that must be given
   */
  public Object[] bind(String function, int required, String... parameters) {
    if (positional.size() > parameters.length) {
      throw JinjaException.type(
          "%s() takes %d arguments; %d were given", function, parameters.length, positional.size());
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
        throw JinjaException.type("%s() needs the argument '%s'", function, parameters[i]);
      }
    }
    return bound;
  }

  /** Returns all arguments of a function that takes any number of positional arguments. */
  public List<Object> bindAll(String function) {
    return Arrays.asList(bindPositions(function, 0, positional.size()));
  }

  /** Checks the arguments of a function that takes only positional arguments. */
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

  /** Returns the value; {@code otherwise} if the value is {@link #MISSING}. */
  public static Object or(Object value, Object otherwise) {
    return value == MISSING ? otherwise : value;
  }
}
