package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.JinjaException;
import java.util.List;

/**
 * The state of one rendering: its budget, its output so far, and its current line. Only one thread
 * may use it.
 */
final class Interpreter {
  private static final int LONGEST_OUTPUT = 32 << 20;

  final Budget budget;
  private StringBuilder out = new StringBuilder();
  private int line;

  Interpreter(Budget budget) {
    this.budget = budget;
  }

  int line() {
    return line;
  }

  void write(String text) {
    budget.chars(text.length());
    if (out.length() > LONGEST_OUTPUT - text.length()) {
      throw JinjaException.limit("the template's output is too long");
    }
    out.append(text);
  }

  /** Runs statements until a break or continue. */
  Statement.Flow run(List<Statement> statements, Scope scope) {
    for (Statement statement : statements) {
      budget.step();
      line = statement.line();
      Statement.Flow flow = statement.body().run(this, scope);
      if (flow != Statement.Flow.NEXT) {
        return flow;
      }
    }
    return Statement.Flow.NEXT;
  }

  /** Runs statements and returns their output instead of writing it. */
  String captured(Runnable statements) {
    StringBuilder outer = out;
    int calledFrom = line;
    out = new StringBuilder();
    try {
      statements.run();
      budget.chars(out.length());
      line = calledFrom;
      return out.toString();
    } finally {
      out = outer;
    }
  }

  String output() {
    return out.toString();
  }
}
