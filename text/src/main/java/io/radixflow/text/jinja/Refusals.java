package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;
import java.util.ArrayList;
import java.util.List;

/**
 * The filters, tests and methods of a template that are not supported. As in Jinja2 they refuse the
 * template, unless a condition decides whether they are reached.
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

  /** Forgets the refusals after the first ones. */
  void forgive(int first) {
    refused.subList(first, refused.size()).clear();
  }

  /** Throws the first refusal after the first ones, if there is one. */
  void check(int first) {
    if (refused.size() > first) {
      throw refused.get(first);
    }
  }
}
