package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.Arguments;
import java.util.HashMap;
import java.util.Map;

/**
 * The variables that a part of a template can see: its own variables, then the variables of the
 * enclosing scopes.
 */
final class Scope {
  private final Scope outer;
  private Map<String, Object> variables;

  Scope(Scope outer) {
    this.outer = outer;
  }

  Scope(Map<String, Object> variables) {
    this.outer = null;
    this.variables = variables;
  }

  void set(String name, Object value) {
    if (variables == null) {
      variables = new HashMap<>(4);
    }
    variables.put(name, value);
  }

  /** Returns the variable's value, or {@link Arguments#MISSING}. */
  Object get(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      if (scope.variables != null) {
        Object value = scope.variables.get(name);
        if (value != null || scope.variables.containsKey(name)) {
          return value;
        }
      }
    }
    return Arguments.MISSING;
  }
}
