package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Token.Type;
import io.radixflow.text.jinja.builtin.Builtins;
import io.radixflow.text.jinja.value.Numbers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Parses operands: constants, names and brackets, followed by subscripts, calls, filters and tests.
 */
record OperandParser(TokenStream stream, ExpressionParser expressions) {
  private static final Set<String> IMPLICIT = Set.of("caller", "varargs", "kwargs");

  Expression primary() {
    Token token = stream.next();
    switch (token.type()) {
      case NAME:
        return name(token.value());
      case STRING:
        StringBuilder text = new StringBuilder(token.value());
        while (stream.current().is(Type.STRING)) {
          text.append(stream.next().value());
        }
        return new Expressions.Constant(text.toString());
      case INTEGER:
        return new Expressions.Constant(integer(token));
      case FLOAT:
        return new Expressions.Constant(Double.valueOf(token.value()));
      case OPERATOR:
        Expression bracketed = bracketed(token.value());
        if (bracketed != null) {
          return bracketed;
        }
        break;
      default:
        break;
    }
    throw stream.failure("unexpected '" + token.described() + "'");
  }

  private Expression name(String name) {
    switch (name) {
      case "true", "True":
        return new Expressions.Constant(true);
      case "false", "False":
        return new Expressions.Constant(false);
      case "none", "None":
        return new Expressions.Constant(null);
      default:
        if (IMPLICIT.contains(name)) {
          expressions.uses(name);
        }
        return new Expressions.Name(name);
    }
  }

  private Long integer(Token token) {
    try {
      return Long.valueOf(token.value());
    } catch (NumberFormatException e) {
      throw Numbers.overflow().at(token.line());
    }
  }

  private Expression bracketed(String open) {
    switch (open) {
      case "(":
        Expression inner = expressions.tuple(true, true);
        stream.expectOperator(")");
        return inner;
      case "[":
        return Expressions.items(items("]", false), false);
      case "{":
        return Expressions.entries(items("}", true));
      default:
        return null;
    }
  }

  private List<Expression> items(String close, boolean keyed) {
    List<Expression> items = new ArrayList<>();
    while (!stream.skipOperator(close)) {
      if (!items.isEmpty()) {
        stream.expectOperator(",");
        if (stream.skipOperator(close)) {
          break;
        }
      }
      items.add(expressions.expression());
      if (keyed) {
        stream.expectOperator(":");
        items.add(expressions.expression());
      }
    }
    return items;
  }

  Expression postfix(Expression start) {
    Expression expression = start;
    while (true) {
      if (stream.skipOperator(".")) {
        expression = attribute(expression);
      } else if (stream.skipOperator("[")) {
        expression = subscript(expression);
      } else if (stream.current().isOperator("(")) {
        expression = call(expression);
      } else {
        return expression;
      }
    }
  }

  Expression filtersAndTests(Expression start) {
    Expression expression = start;
    while (true) {
      if (stream.current().isOperator("|")) {
        expression = filters(expression, false);
      } else if (stream.skipName("is")) {
        expression = test(expression);
      } else if (stream.current().isOperator("(")) {
        expression = call(expression);
      } else {
        return expression;
      }
    }
  }

  private Expression call(Expression function) {
    if (function instanceof Expressions.Attribute method && Builtins.refusesMethod(method.name)) {
      expressions.refusals.add("method", method.name);
    }
    return new CallExpression(CallExpression.Kind.FUNCTION, null, function, arguments());
  }

  private Expression attribute(Expression owner) {
    Token token = stream.next();
    if (token.is(Type.NAME)) {
      return new Expressions.Attribute(owner, token.value());
    } else if (!token.is(Type.INTEGER)) {
      throw stream.failure("expected name or number");
    }
    return Expressions.item(owner, new Expressions.Constant(integer(token)));
  }

  private Expression subscript(Expression owner) {
    List<Expression> indexes = new ArrayList<>();
    Expression slice = null;
    while (!stream.skipOperator("]")) {
      if (!indexes.isEmpty() || slice != null) {
        stream.expectOperator(",");
      }
      Expression start = stream.current().isOperator(":") ? null : expressions.expression();
      if (stream.current().isOperator(":")) {
        slice = slice(owner, start);
      } else {
        indexes.add(start);
      }
    }
    if (slice != null && !indexes.isEmpty()) {
      throw stream.failure("slices cannot be combined");
    } else if (slice != null) {
      return slice;
    }
    return Expressions.item(
        owner, indexes.size() == 1 ? indexes.get(0) : Expressions.items(indexes, true));
  }

  private Expression slice(Expression owner, Expression start) {
    stream.expectOperator(":");
    Expression stop = null;
    Expression step = null;
    if (!endsBound() && !stream.current().isOperator(":")) {
      stop = expressions.expression();
    }
    if (stream.skipOperator(":") && !endsBound()) {
      step = expressions.expression();
    }
    return Expressions.slice(owner, start, stop, step);
  }

  private boolean endsBound() {
    return stream.current().isOperator("]") || stream.current().isOperator(",");
  }

  /**
   * Parses filters.
   *
   * @param value the expression to filter; null in a block
   * @param bare whether the first filter has no bar before its name
   */
  Expression filters(Expression value, boolean bare) {
    Expression filtered = value;
    boolean first = bare;
    while (first || stream.skipOperator("|")) {
      String name = dottedName();
      if (!Builtins.hasFilter(name)) {
        expressions.refusals.add("filter", name);
      }
      CallExpression.Written written =
          stream.current().isOperator("(") ? arguments() : CallExpression.Written.NONE;
      filtered = new CallExpression(CallExpression.Kind.FILTER, name, filtered, written);
      first = false;
    }
    return filtered;
  }

  private String dottedName() {
    StringBuilder name = new StringBuilder(stream.expect(Type.NAME).value());
    while (stream.skipOperator(".")) {
      name.append('.').append(stream.expect(Type.NAME).value());
    }
    return name.toString();
  }

  private Expression test(Expression value) {
    boolean negated = stream.skipName("not");
    String name = dottedName();
    if (!Builtins.hasTest(name)) {
      expressions.refusals.add("test", name);
    }
    Token token = stream.current();
    CallExpression.Written written = CallExpression.Written.NONE;
    if (token.isOperator("(")) {
      written = arguments();
    } else if (beginsArgument(token)) {
      if (token.isName("is")) {
        throw stream.failure("You cannot chain multiple tests with is");
      }
      written = new CallExpression.Written(List.of(postfix(primary())), Map.of(), null, null);
    }
    Expression test = new CallExpression(CallExpression.Kind.TEST, name, value, written);
    return negated ? Expressions.unary("not", test) : test;
  }

  private static boolean beginsArgument(Token token) {
    return switch (token.type()) {
      case NAME -> !List.of("else", "or", "and").contains(token.value());
      case STRING, INTEGER, FLOAT -> true;
      case OPERATOR -> token.value().equals("[") || token.value().equals("{");
      default -> false;
    };
  }

  private CallExpression.Written arguments() {
    stream.expectOperator("(");
    List<Expression> positional = new ArrayList<>();
    Map<String, Expression> named = new LinkedHashMap<>();
    Expression all = null;
    Expression allNamed = null;
    boolean first = true;
    while (!stream.skipOperator(")")) {
      if (!first) {
        stream.expectOperator(",");
        if (stream.skipOperator(")")) {
          break;
        }
      }
      first = false;
      boolean star = stream.current().isOperator("*");
      boolean stars = stream.current().isOperator("**");
      boolean name = stream.current().is(Type.NAME) && stream.look().isOperator("=");
      boolean misplaced = allNamed != null || !stars && !name && all != null;
      if (misplaced || !star && !stars && !name && !named.isEmpty()) {
        throw stream.failure("invalid syntax for function call expression");
      }
      if (star || stars) {
        stream.next();
        all = star ? expressions.expression() : all;
        allNamed = stars ? expressions.expression() : allNamed;
      } else if (name) {
        String key = stream.next().value();
        stream.next();
        if (named.put(key, expressions.expression()) != null) {
          throw stream.failure("keyword argument repeated: " + key);
        }
      } else {
        positional.add(expressions.expression());
      }
    }
    return new CallExpression.Written(positional, named, all, allNamed);
  }
}
