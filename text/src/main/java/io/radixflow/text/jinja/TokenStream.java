package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Token.Type;
import io.radixflow.text.jinja.value.JinjaException;
import java.util.List;

/** The tokens of a template, with a position. */
final class TokenStream {
  private static final int DEEPEST = 100;

  private final List<Token> tokens;
  private int at;
  private int depth;

  TokenStream(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token current() {
    return tokens.get(at);
  }

  Token look() {
    return tokens.get(Math.min(at + 1, tokens.size() - 1));
  }

  Token next() {
    Token token = tokens.get(at);
    at = Math.min(at + 1, tokens.size() - 1);
    return token;
  }

  boolean skipOperator(String operator) {
    boolean found = current().isOperator(operator);
    if (found) {
      next();
    }
    return found;
  }

  boolean skipName(String name) {
    boolean found = current().isName(name);
    if (found) {
      next();
    }
    return found;
  }

  Token expect(Type type) {
    if (!current().is(type)) {
      throw unexpected(type.description);
    }
    return next();
  }

  void expectOperator(String operator) {
    if (!skipOperator(operator)) {
      throw unexpected(operator);
    }
  }

  private JinjaException unexpected(String wanted) {
    return failure(
        current().is(Type.END)
            ? "unexpected end of template, expected '" + wanted + "'."
            : "expected token '" + wanted + "', got '" + current().described() + "'");
  }

  JinjaException failure(String reason) {
    return JinjaException.of("TemplateSyntaxError", "%s", reason).at(current().line());
  }

  /** Begins a level of nesting, which {@link #leave} ends. */
  void enter() {
    if (++depth > DEEPEST) {
      throw failure("the template is nested too deep");
    }
  }

  void leave() {
    depth--;
  }
}
