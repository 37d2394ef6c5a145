package io.radixflow.text.jinja.value;

/**
 * A function, macro, filter, test or method. The first argument of filters, tests and methods is
 * their value.
 */
@FunctionalInterface
public interface Invocable {
  Object call(Budget budget, Arguments arguments);
}
