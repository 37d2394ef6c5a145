package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Statement.Flow;
import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Lazy;
import io.radixflow.text.jinja.value.Values;
import java.util.Iterator;
import java.util.List;

/**
 * A loop.
 *
 * @param test selects the elements; null for all
 * @param otherwise runs if there are no elements
 */
record ForLoop(
    AssignmentTarget target,
    Expression iterable,
    Expression test,
    boolean recursive,
    List<Statement> body,
    List<Statement> otherwise)
    implements Statement.Body {

  @Override
  public Flow run(Interpreter interpreter, Scope scope) {
    return run(interpreter, scope, iterable.value(interpreter, scope), 0);
  }

  /** Runs a recursive loop one level deeper and returns its output. */
  String descend(Interpreter interpreter, Scope scope, Object items, int depth) {
    interpreter.budget.enter();
    String text = interpreter.captured(() -> run(interpreter, scope, items, depth));
    interpreter.budget.leave();
    return text;
  }

  private Flow run(Interpreter interpreter, Scope scope, Object items, int depth) {
    Iterator<Object> iterator = Values.iterate(items);
    int length = test == null && Values.isSized(items) ? Values.length(items) : -1;
    LoopContext loop =
        new LoopContext(
            interpreter.budget,
            test == null ? iterator : accepted(interpreter, scope, iterator),
            length,
            depth,
            recursive ? below -> descend(interpreter, scope, below, depth + 1) : null);
    boolean completed = false;
    while (loop.hasNext()) {
      interpreter.budget.step();
      Scope inner = new Scope(scope);
      target.assign(interpreter, inner, loop.advance());
      inner.set("loop", loop);
      Flow flow = interpreter.run(body, inner);
      if (flow == Flow.BREAK) {
        break;
      }
      completed |= flow == Flow.NEXT;
    }
    // As in Jinja2, a pass that was left with {@code break} or {@code continue} does not count.
    return completed || otherwise.isEmpty()
        ? Flow.NEXT
        : interpreter.run(otherwise, new Scope(scope));
  }

  private Iterator<Object> accepted(Interpreter interpreter, Scope scope, Iterator<Object> items) {
    return new Lazy(
        () -> {
          while (items.hasNext()) {
            interpreter.budget.step();
            Object item = items.next();
            Scope inner = new Scope(scope);
            target.assign(interpreter, inner, item);
            if (Values.truth(test.value(interpreter, inner))) {
              return item;
            }
          }
          return Arguments.MISSING;
        });
  }
}
