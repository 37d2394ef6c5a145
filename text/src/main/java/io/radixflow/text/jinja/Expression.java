package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;

/** A part of a template that has a value. */
abstract class Expression {
  private static final int DEEPEST = 400;

  private final int depth;

  Expression(Expression... parts) {
    int deepest = 0;
    for (Expression part : parts) {
      deepest = part == null ? deepest : Math.max(deepest, part.depth);
    }
    depth = deepest + 1;
    if (depth > DEEPEST) {
      throw JinjaException.of("TemplateSyntaxError", "an expression is too long");
    }
  }

  /** Computes the value. Java's null is None. */
  abstract Object value(Interpreter interpreter, Scope scope);
}
