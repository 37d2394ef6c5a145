package io.radixflow.text.jinja;

/** A part of a template that writes output or sets variables. */
interface Statement {

  /** How a statement ends. */
  enum Flow {
    NEXT,
    BREAK,
    CONTINUE
  }

  /** Returns its line number in the template. */
  int line();

  Flow run(Interpreter interpreter, Scope scope);
}
