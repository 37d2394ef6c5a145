package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;
import java.util.List;

/** A part of a template that has a value. */
abstract class Expression {
  private static final int DEEPEST = 400;

  private final int depth;

  /** Computes the value of an expression. */
  interface Evaluation {
    Object value(Interpreter interpreter, Scope scope);
  }

  /**
   * @param parts the parts of the expression; null for a missing part
   */
  Expression(List<Expression> parts) {
    int deepest = 0;
    for (Expression part : parts) {
      deepest = part == null ? deepest : Math.max(deepest, part.depth);
    }
    depth = deepest + 1;
    if (depth > DEEPEST) {
      throw JinjaException.of("TemplateSyntaxError", "an expression is too long");
    }
  }

  static Expression of(Evaluation evaluation, List<Expression> parts) {
    return new Expression(parts) {
      @Override
      Object value(Interpreter interpreter, Scope scope) {
        return evaluation.value(interpreter, scope);
      }
    };
  }

  /** Computes the value. Java's null is None. */
  abstract Object value(Interpreter interpreter, Scope scope);
}
