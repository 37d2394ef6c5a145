package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;
import java.util.ArrayList;
import java.util.List;

/**
 * The unsupported filters, tests and methods in a template. As in Jinja2, each one is an error
 * unless a condition decides whether it is reached.
 */
final class Refusals {
  private final TokenStream stream;
  private final List<JinjaException> refused = new ArrayList<>();

  Refusals(TokenStream stream) {
    this.stream = stream;
  }

  void add(String kind, String name) {
    refused.add(stream.failure("the " + kind + " '" + name + "' is not supported"));
  }

  int count() {
    return refused.size();
  }

  /** Removes the refusals from index {@code first} on. */
  void forgive(int first) {
    refused.subList(first, refused.size()).clear();
  }

  /** Throws the refusal at index {@code first}, if there is one. */
  void check(int first) {
    if (refused.size() > first) {
      throw refused.get(first);
    }
  }
}
