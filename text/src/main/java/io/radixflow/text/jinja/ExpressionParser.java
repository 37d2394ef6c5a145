package io.radixflow.text.jinja;

import io.radixflow.text.jinja.Token.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Parses operators with Jinja2's grammar and precedences. */
final class ExpressionParser {
  final OperandParser operands;
  final Refusals refusals;

  private final TokenStream stream;

  /** For each macro that is being parsed, the implicit variables that its body reads. */
  private final Deque<Set<String>> uses = new ArrayDeque<>();

  ExpressionParser(TokenStream stream) {
    this.stream = stream;
    this.refusals = new Refusals(stream);
    this.operands = new OperandParser(stream, this);
  }

  /** Notes that an implicit variable of macros is used. */
  void uses(String name) {
    uses.forEach(used -> used.add(name));
  }

  void beginMacro() {
    uses.push(new HashSet<>());
  }

  Set<String> endMacro() {
    return uses.pop();
  }

  Expression expression() {
    stream.enter();
    int refused = refusals.count();
    Expression then = or();
    while (stream.skipName("if")) {
      Expression condition = or();
      Expression otherwise = stream.skipName("else") ? expression() : null;
      then = Expressions.conditional(condition, then, otherwise);
      refusals.forgive(refused);
    }
    stream.leave();
    return then;
  }

  /** Parses an expression, or several expressions with commas between them, which are a tuple. */
  Expression tuple(boolean conditional, boolean parentheses) {
    return tuple(conditional ? this::expression : this::nestedOr, parentheses, null);
  }

  /** Parses the expression after {@code in} of a loop. */
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
    return Expressions.items(items, true);
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
      left = Expressions.binary("or", left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (stream.skipName("and")) {
      left = Expressions.binary("and", left, not());
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
    return Expressions.unary("not", operand);
  }

  private Expression comparison() {
    List<Expression> operands = new ArrayList<>(List.of(sum()));
    List<String> operators = new ArrayList<>();
    for (String operator = comparator(); operator != null; operator = comparator()) {
      operators.add(operator);
      operands.add(sum());
    }
    return operators.isEmpty() ? operands.get(0) : Expressions.compared(operands, operators);
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
      left = Expressions.binary(operator, left, operand.get());
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
    return parts.size() == 1 ? parts.get(0) : Expressions.joined(parts);
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
      expression = Expressions.unary(token.value(), unary(false));
      stream.leave();
    } else {
      expression = operands.primary();
    }
    expression = operands.postfix(expression);
    return filtered ? operands.filtersAndTests(expression) : expression;
  }
}
