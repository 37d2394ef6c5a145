package io.radixflow.text.jinja.value;

/** A function, macro, filter, test or method; of the latter three the first argument is theirs. */
@FunctionalInterface
public interface Invocable {
  Object call(Budget budget, Arguments arguments);
}
