package io.radixflow.text.jinja.value;

import java.util.List;

/**
 * A tuple.
 *
 * @param names names of the elements of a named tuple; empty for a plain tuple
 */
public record Tuple(List<Object> items, List<String> names) {
  public Tuple(List<Object> items) {
    this(items, List.of());
  }

  public static Tuple of(Object first, Object second) {
    return new Tuple(java.util.Arrays.asList(first, second));
  }
}
