package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Values;
import java.util.List;

/** All statements except loops. */
final class Statements {

  private Statements() {}

  record Data(int line, String text) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      interpreter.write(text);
      return Flow.NEXT;
    }
  }

  record Print(int line, Expression expression) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      Object value = expression.value(interpreter, scope);
      interpreter.write(Printing.str(interpreter.budget, value));
      return Flow.NEXT;
    }
  }

  /**
   * @param conditions the conditions of {@code if} and {@code elif}
   * @param branches one branch per condition, and one for {@code else}
   */
  record If(int line, List<Expression> conditions, List<List<Statement>> branches)
      implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      for (int i = 0; i < conditions.size(); i++) {
        if (Values.truth(conditions.get(i).value(interpreter, scope))) {
          return interpreter.run(branches.get(i), scope);
        }
      }
      return interpreter.run(branches.get(conditions.size()), scope);
    }
  }

  record Set(int line, AssignmentTarget target, Expression expression) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      target.assign(interpreter, scope, expression.value(interpreter, scope));
      return Flow.NEXT;
    }
  }

  /**
   * Sets a variable to the output of its body.
   *
   * @param filter a filter that is applied to the output first; null for none
   */
  record SetBlock(int line, AssignmentTarget target, CallExpression filter, List<Statement> body)
      implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      Flow[] flow = new Flow[1];
      Object text = interpreter.captured(() -> flow[0] = interpreter.run(body, new Scope(scope)));
      if (flow[0] == Flow.NEXT) {
        Object value = filter == null ? text : filter.filtered(interpreter, scope, text);
        target.assign(interpreter, scope, value);
      }
      return flow[0];
    }
  }

  record FilterBlock(int line, CallExpression filter, List<Statement> body) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      Flow[] flow = new Flow[1];
      String text = interpreter.captured(() -> flow[0] = interpreter.run(body, new Scope(scope)));
      if (flow[0] == Flow.NEXT) {
        Object filtered = filter.filtered(interpreter, scope, text);
        if (!Values.isText(filtered)) {
          throw JinjaException.type("a filter block gave %s, not str", Values.type(filtered));
        }
        interpreter.write(Values.text(filtered));
      }
      return flow[0];
    }
  }

  record With(
      int line, List<AssignmentTarget> targets, List<Expression> values, List<Statement> body)
      implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      Scope inner = new Scope(scope);
      for (int i = 0; i < targets.size(); i++) {
        targets.get(i).assign(interpreter, inner, values.get(i).value(interpreter, scope));
      }
      return interpreter.run(body, inner);
    }
  }

  /** A body that has its own variables. */
  record Scoped(int line, List<Statement> body) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      return interpreter.run(body, new Scope(scope));
    }
  }

  record Define(int line, Macro.Definition macro) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      scope.set(macro.name(), new Macro(macro, interpreter, scope));
      return Flow.NEXT;
    }
  }

  record CallBlock(int line, CallExpression call, Macro.Definition caller) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      Object value = call.calledWith(interpreter, scope, new Macro(caller, interpreter, scope));
      interpreter.write(Printing.str(interpreter.budget, value));
      return Flow.NEXT;
    }
  }

  /** Leaves a loop, or the current pass of a loop. */
  record Leave(int line, Flow flow) implements Statement {
    @Override
    public Flow run(Interpreter interpreter, Scope scope) {
      return flow;
    }
  }
}
