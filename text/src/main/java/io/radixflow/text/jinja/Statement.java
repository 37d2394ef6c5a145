package io.radixflow.text.jinja;

/**
 * A part of a template that writes output or sets variables.
 *
 * @param line its line number in the template
 */
record Statement(int line, Body body) {

  /** How a statement ends. */
  enum Flow {
    NEXT,
    BREAK,
    CONTINUE
  }

  interface Body {
    Flow run(Interpreter interpreter, Scope scope);
  }
}
