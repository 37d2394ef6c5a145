package io.radixflow.text.jinja;

import io.radixflow.text.jinja.builtin.Attributes;
import io.radixflow.text.jinja.builtin.Operators;
import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** All expressions except calls. */
final class Expressions {

  private Expressions() {}

  static final class Constant extends Expression {
    final Object value;

    Constant(Object value) {
      super(List.of());
      this.value = value;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      return value;
    }
  }

  static final class Name extends Expression {
    final String name;

    Name(String name) {
      super(List.of());
      this.name = name;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.step();
      Object value = scope.get(name);
      return value == Arguments.MISSING ? Undefined.name(name) : value;
    }
  }

  static final class Attribute extends Expression {
    final String name;
    private final Expression owner;

    Attribute(Expression owner, String name) {
      super(List.of(owner));
      this.owner = owner;
      this.name = name;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.step();
      return Attributes.attribute(owner.value(interpreter, scope), name);
    }
  }

  static Expression items(List<Expression> items, boolean tuple) {
    return Expression.of(
        (interpreter, scope) -> {
          interpreter.budget.items(items.size());
          List<Object> values = new ArrayList<>(items.size());
          for (Expression item : items) {
            values.add(item.value(interpreter, scope));
          }
          return tuple ? new Tuple(values) : values;
        },
        items);
  }

  /** A dictionary. Keys and values alternate in {@code entries}. */
  static Expression entries(List<Expression> entries) {
    return Expression.of(
        (interpreter, scope) -> {
          interpreter.budget.items(entries.size());
          Dict dict = new Dict();
          for (int i = 0; i < entries.size(); i += 2) {
            Object key = entries.get(i).value(interpreter, scope);
            dict.put(key, entries.get(i + 1).value(interpreter, scope));
          }
          return dict;
        },
        entries);
  }

  static Expression item(Expression owner, Expression index) {
    return Expression.of(
        (interpreter, scope) -> {
          Object from = owner.value(interpreter, scope);
          Object at = index.value(interpreter, scope);
          boolean text = Values.isText(from);
          interpreter.budget.work(1 + (text ? Values.text(from).length() >> 5 : 0));
          return Attributes.item(from, at);
        },
        List.of(owner, index));
  }

  /** Returns a slice. Null means that a bound is omitted. */
  static Expression slice(Expression owner, Expression start, Expression stop, Expression step) {
    return Expression.of(
        (interpreter, scope) ->
            Operators.slice(
                interpreter.budget,
                owner.value(interpreter, scope),
                start == null ? null : start.value(interpreter, scope),
                stop == null ? null : stop.value(interpreter, scope),
                step == null ? null : step.value(interpreter, scope)),
        Arrays.asList(owner, start, stop, step));
  }

  static Expression unary(String operator, Expression operand) {
    return Expression.of(
        (interpreter, scope) -> {
          Object value = operand.value(interpreter, scope);
          return operator.equals("not") ? !Values.truth(value) : Operators.signed(operator, value);
        },
        List.of(operand));
  }

  static Expression binary(String operator, Expression left, Expression right) {
    return Expression.of(
        (interpreter, scope) -> {
          Object a = left.value(interpreter, scope);
          if (operator.equals("and") || operator.equals("or")) {
            return Values.truth(a) == operator.equals("and") ? right.value(interpreter, scope) : a;
          }
          interpreter.budget.step();
          return Operators.binary(interpreter.budget, operator, a, right.value(interpreter, scope));
        },
        List.of(left, right));
  }

  /** Expressions joined by {@code ~}. */
  static Expression joined(List<Expression> parts) {
    return Expression.of(
        (interpreter, scope) -> {
          StringBuilder out = new StringBuilder();
          for (Expression part : parts) {
            String text = Printing.str(interpreter.budget, part.value(interpreter, scope));
            interpreter.budget.chars(text.length());
            out.append(text);
          }
          return out.toString();
        },
        parts);
  }

  /** A chain of comparisons, such as {@code a < b <= c}. */
  static Expression compared(List<Expression> operands, List<String> operators) {
    return Expression.of(
        (interpreter, scope) -> {
          Object left = operands.get(0).value(interpreter, scope);
          for (int i = 0; i < operators.size(); i++) {
            Object right = operands.get(i + 1).value(interpreter, scope);
            if (!holds(interpreter.budget, operators.get(i), left, right)) {
              return false;
            }
            left = right;
          }
          return true;
        },
        operands);
  }

  private static boolean holds(Budget budget, String operator, Object left, Object right) {
    return switch (operator) {
      case "==" -> Comparison.equal(budget, left, right);
      case "!=" -> !Comparison.equal(budget, left, right);
      case "in" -> Comparison.contains(budget, right, left);
      case "not in" -> !Comparison.contains(budget, right, left);
      default -> Comparison.ordered(budget, operator, left, right);
    };
  }

  /** Returns a conditional expression; {@code otherwise} is null if there is no {@code else}. */
  static Expression conditional(Expression condition, Expression then, Expression otherwise) {
    return Expression.of(
        (interpreter, scope) -> {
          if (Values.truth(condition.value(interpreter, scope))) {
            return then.value(interpreter, scope);
          }
          return otherwise == null
              ? Undefined.because(
                  "the inline if-expression evaluated to false and no else section was defined.")
              : otherwise.value(interpreter, scope);
        },
        Arrays.asList(condition, then, otherwise));
  }
}
