package io.radixflow.kernels.text.jinja;

import io.radixflow.kernels.text.jinja.Token.Type;
import io.radixflow.kernels.text.jinja.value.Numbers;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Parses expressions, by Jinja2's grammar and precedences. */
final class ExpressionParser {
  private static final Set<String> IMPLICIT = Set.of("caller", "varargs", "kwargs");

  private final TokenStream stream;

  /** For each macro that is being parsed, which implicit variables its body reads. */
  private final Deque<Set<String>> uses = new ArrayDeque<>();

  ExpressionParser(TokenStream stream) {
    this.stream = stream;
  }

  void beginMacro() {
    uses.push(new HashSet<>());
  }

  Set<String> endMacro() {
    return uses.pop();
  }

  Expression expression() {
    stream.enter();
    Expression then = or();
    while (stream.skipName("if")) {
      Expression condition = or();
      Expression otherwise = stream.skipName("else") ? expression() : null;
      then = new Expressions.Conditional(condition, then, otherwise);
    }
    stream.leave();
    return then;
  }

  /** Parses an expression, or several with commas between them, which make a tuple. */
  Expression tuple(boolean conditional, boolean parentheses) {
    return tuple(conditional ? this::expression : this::nestedOr, parentheses, null);
  }

  /** Parses the elements of a loop. */
  Expression loopElements() {
    return tuple(this::nestedOr, false, "recursive");
  }

  private Expression nestedOr() {
    stream.enter();
    Expression expression = or();
    stream.leave();
    return expression;
  }

  private Expression tuple(Supplier<Expression> part, boolean parentheses, String endName) {
    List<Expression> items = new ArrayList<>();
    boolean tuple = false;
    while (!endsTuple(endName)) {
      items.add(part.get());
      if (!stream.skipOperator(",")) {
        break;
      }
      tuple = true;
    }
    if (!tuple && items.size() == 1) {
      return items.get(0);
    } else if (items.isEmpty() && !parentheses) {
      throw stream.failure("Expected an expression, got '" + stream.current().described() + "'");
    }
    return new Expressions.Items(items, true);
  }

  private boolean endsTuple(String endName) {
    Token token = stream.current();
    return token.is(Type.VARIABLE_END)
        || token.is(Type.BLOCK_END)
        || token.isOperator(")")
        || endName != null && token.isName(endName);
  }

  private Expression or() {
    Expression left = and();
    while (stream.skipName("or")) {
      left = new Expressions.Binary("or", left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (stream.skipName("and")) {
      left = new Expressions.Binary("and", left, not());
    }
    return left;
  }

  private Expression not() {
    if (!stream.current().isName("not")) {
      return comparison();
    }
    stream.next();
    stream.enter();
    Expression operand = not();
    stream.leave();
    return new Expressions.Unary("not", operand);
  }

  private Expression comparison() {
    Expression first = sum();
    List<String> operators = new ArrayList<>();
    List<Expression> others = new ArrayList<>();
    for (String operator = comparator(); operator != null; operator = comparator()) {
      operators.add(operator);
      others.add(sum());
    }
    return others.isEmpty() ? first : new Expressions.Compared(first, operators, others);
  }

  private String comparator() {
    Token token = stream.current();
    if (token.is(Type.OPERATOR)
        && List.of("==", "!=", "<", "<=", ">", ">=").contains(token.value())) {
      return stream.next().value();
    } else if (stream.skipName("in")) {
      return "in";
    } else if (token.isName("not") && stream.look().isName("in")) {
      stream.next();
      stream.next();
      return "not in";
    }
    return null;
  }

  private Expression chain(List<String> operators, Supplier<Expression> operand) {
    Expression left = operand.get();
    while (stream.current().is(Type.OPERATOR) && operators.contains(stream.current().value())) {
      String operator = stream.next().value();
      left = new Expressions.Binary(operator, left, operand.get());
    }
    return left;
  }

  private Expression sum() {
    return chain(List.of("+", "-"), this::joined);
  }

  private Expression joined() {
    List<Expression> parts = new ArrayList<>();
    do {
      parts.add(product());
    } while (stream.skipOperator("~"));
    return parts.size() == 1 ? parts.get(0) : new Expressions.Joined(parts);
  }

  private Expression product() {
    return chain(List.of("*", "/", "//", "%"), () -> chain(List.of("**"), () -> unary(true)));
  }

  private Expression unary(boolean filtered) {
    Token token = stream.current();
    Expression expression;
    if (token.isOperator("-") || token.isOperator("+")) {
      stream.next();
      stream.enter();
      expression = new Expressions.Unary(token.value(), unary(false));
      stream.leave();
    } else {
      expression = primary();
    }
    expression = postfix(expression);
    return filtered ? filtersAndTests(expression) : expression;
  }

  private Expression primary() {
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
        return new Expressions.Constant(integer(token.value()));
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
          uses.forEach(used -> used.add(name));
        }
        return new Expressions.Name(name);
    }
  }

  private static Object integer(String digits) {
    String prefix =
        digits.length() > 2 ? digits.substring(0, 2).toLowerCase(java.util.Locale.ROOT) : "";
    return Numbers.narrow(
        switch (prefix) {
          case "0x" -> new BigInteger(digits.substring(2), 16);
          case "0o" -> new BigInteger(digits.substring(2), 8);
          case "0b" -> new BigInteger(digits.substring(2), 2);
          default -> decimal(digits);
        });
  }

  private static BigInteger decimal(String digits) {
    if (digits.length() > 4300) {
      throw io.radixflow.kernels.text.jinja.value.JinjaException.value("a number is too long");
    }
    return new BigInteger(digits);
  }

  private Expression bracketed(String open) {
    switch (open) {
      case "(":
        Expression inner = tuple(true, true);
        stream.expectOperator(")");
        return inner;
      case "[":
        return new Expressions.Items(items("]", false), false);
      case "{":
        return new Expressions.Entries(items("}", true));
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
      items.add(expression());
      if (keyed) {
        stream.expectOperator(":");
        items.add(expression());
      }
    }
    return items;
  }

  private Expression postfix(Expression start) {
    Expression expression = start;
    while (true) {
      if (stream.skipOperator(".")) {
        expression = attribute(expression);
      } else if (stream.skipOperator("[")) {
        expression = subscript(expression);
      } else if (stream.current().isOperator("(")) {
        expression =
            new CallExpression(CallExpression.Kind.FUNCTION, null, expression, arguments());
      } else {
        return expression;
      }
    }
  }

  private Expression filtersAndTests(Expression start) {
    Expression expression = start;
    while (true) {
      if (stream.current().isOperator("|")) {
        expression = filters(expression, false);
      } else if (stream.skipName("is")) {
        expression = test(expression);
      } else if (stream.current().isOperator("(")) {
        expression =
            new CallExpression(CallExpression.Kind.FUNCTION, null, expression, arguments());
      } else {
        return expression;
      }
    }
  }

  private Expression attribute(Expression owner) {
    Token token = stream.next();
    if (token.is(Type.NAME)) {
      return new Expressions.Attribute(owner, token.value());
    } else if (!token.is(Type.INTEGER)) {
      throw stream.failure("expected name or number");
    }
    return new Expressions.Item(owner, new Expressions.Constant(integer(token.value())));
  }

  private Expression subscript(Expression owner) {
    List<Expression> indexes = new ArrayList<>();
    Expression slice = null;
    while (!stream.skipOperator("]")) {
      if (!indexes.isEmpty() || slice != null) {
        stream.expectOperator(",");
      }
      Expression start = stream.current().isOperator(":") ? null : expression();
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
    return new Expressions.Item(
        owner, indexes.size() == 1 ? indexes.get(0) : new Expressions.Items(indexes, true));
  }

  private Expression slice(Expression owner, Expression start) {
    stream.expectOperator(":");
    Expression stop = null;
    Expression step = null;
    if (!endsBound() && !stream.current().isOperator(":")) {
      stop = expression();
    }
    if (stream.skipOperator(":") && !endsBound()) {
      step = expression();
    }
    return new Expressions.Slice(owner, start, stop, step);
  }

  private boolean endsBound() {
    return stream.current().isOperator("]") || stream.current().isOperator(",");
  }

  /**
   * Parses filters.
   *
   * @param value the expression to filter; null in a block
   * @param bare whether the first name comes without a bar
   */
  Expression filters(Expression value, boolean bare) {
    Expression filtered = value;
    boolean first = bare;
    while (first || stream.skipOperator("|")) {
      String name = dottedName();
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
    return negated ? new Expressions.Unary("not", test) : test;
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
        all = star ? expression() : all;
        allNamed = stars ? expression() : allNamed;
      } else if (name) {
        String key = stream.next().value();
        stream.next();
        if (named.put(key, expression()) != null) {
          throw stream.failure("keyword argument repeated: " + key);
        }
      } else {
        positional.add(expression());
      }
    }
    return new CallExpression.Written(positional, named, all, allNamed);
  }
}
