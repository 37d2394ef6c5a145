package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Statement.Body;
import io.radixflow.text.jinja.Statement.Flow;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Values;
import java.util.List;

/** All statements except loops. */
final class Statements {

  private Statements() {}

  /** What a statement does that never leaves a loop. */
  private interface Action {
    void run(Interpreter interpreter, Scope scope);
  }

  private static Body action(Action action) {
    return (interpreter, scope) -> {
      action.run(interpreter, scope);
      return Flow.NEXT;
    };
  }

  static Body data(String text) {
    return action((interpreter, scope) -> interpreter.write(text));
  }

  static Body print(Expression expression) {
    return action((interpreter, scope) -> print(interpreter, expression.value(interpreter, scope)));
  }

  private static void print(Interpreter interpreter, Object value) {
    interpreter.write(Printing.str(interpreter.budget, value));
  }

  /**
   * @param conditions the conditions of {@code if} and {@code elif}
   * @param branches one branch per condition, and one for {@code else}
   */
  static Body condition(List<Expression> conditions, List<List<Statement>> branches) {
    return (interpreter, scope) -> {
      for (int i = 0; i < conditions.size(); i++) {
        if (Values.truth(conditions.get(i).value(interpreter, scope))) {
          return interpreter.run(branches.get(i), scope);
        }
      }
      return interpreter.run(branches.get(conditions.size()), scope);
    };
  }

  static Body set(AssignmentTarget target, Expression expression) {
    return action(
        (interpreter, scope) ->
            target.assign(interpreter, scope, expression.value(interpreter, scope)));
  }

  /**
   * Uses the output of a body, unless the body leaves a loop.
   *
   * @param filter a filter that is applied to the output first; null for none
   * @param target the variable that gets the output; null to write it
   */
  static Body block(AssignmentTarget target, CallExpression filter, List<Statement> body) {
    return (interpreter, scope) -> {
      Flow[] flow = new Flow[1];
      String text = interpreter.captured(() -> flow[0] = interpreter.run(body, new Scope(scope)));
      if (flow[0] == Flow.NEXT) {
        Object value = filter == null ? text : filter.filtered(interpreter, scope, text);
        if (target != null) {
          target.assign(interpreter, scope, value);
        } else if (Values.isText(value)) {
          interpreter.write(Values.text(value));
        } else {
          throw JinjaException.type("a filter block gave %s, not str", Values.type(value));
        }
      }
      return flow[0];
    };
  }

  static Body with(List<AssignmentTarget> targets, List<Expression> values, List<Statement> body) {
    return (interpreter, scope) -> {
      Scope inner = new Scope(scope);
      for (int i = 0; i < targets.size(); i++) {
        targets.get(i).assign(interpreter, inner, values.get(i).value(interpreter, scope));
      }
      return interpreter.run(body, inner);
    };
  }

  static Body define(Macro.Definition macro) {
    return action(
        (interpreter, scope) -> scope.set(macro.name(), new Macro(macro, interpreter, scope)));
  }

  static Body callBlock(CallExpression call, Macro.Definition caller) {
    return action(
        (interpreter, scope) ->
            print(
                interpreter,
                call.calledWith(interpreter, scope, new Macro(caller, interpreter, scope))));
  }
}
