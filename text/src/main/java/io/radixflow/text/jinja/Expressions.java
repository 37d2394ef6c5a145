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
import java.util.List;

/** All expressions except calls. */
final class Expressions {

  private Expressions() {}

  static final class Constant extends Expression {
    final Object value;

    Constant(Object value) {
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
      this.name = name;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.step();
      Object value = scope.get(name);
      return value == Arguments.MISSING ? Undefined.name(name) : value;
    }
  }

  /** A list or a tuple. */
  static final class Items extends Expression {
    private final List<Expression> items;
    private final boolean tuple;

    Items(List<Expression> items, boolean tuple) {
      super(items.toArray(new Expression[0]));
      this.items = items;
      this.tuple = tuple;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.items(items.size());
      List<Object> values = new ArrayList<>(items.size());
      for (Expression item : items) {
        values.add(item.value(interpreter, scope));
      }
      return tuple ? new Tuple(values) : values;
    }
  }

  /** A dictionary. Keys and values alternate in {@code entries}. */
  static final class Entries extends Expression {
    private final List<Expression> entries;

    Entries(List<Expression> entries) {
      super(entries.toArray(new Expression[0]));
      this.entries = entries;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.items(entries.size());
      Dict dict = new Dict();
      for (int i = 0; i < entries.size(); i += 2) {
        Object key = entries.get(i).value(interpreter, scope);
        dict.put(key, entries.get(i + 1).value(interpreter, scope));
      }
      return dict;
    }
  }

  static final class Attribute extends Expression {
    final String name;
    private final Expression owner;

    Attribute(Expression owner, String name) {
      super(owner);
      this.owner = owner;
      this.name = name;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      interpreter.budget.step();
      return Attributes.attribute(owner.value(interpreter, scope), name);
    }
  }

  static final class Item extends Expression {
    private final Expression owner;
    private final Expression index;

    Item(Expression owner, Expression index) {
      super(owner, index);
      this.owner = owner;
      this.index = index;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      Object from = owner.value(interpreter, scope);
      Object at = index.value(interpreter, scope);
      boolean text = Values.isText(from);
      interpreter.budget.work(1 + (text ? Values.text(from).length() >> 5 : 0));
      return Attributes.item(from, at);
    }
  }

  static final class Slice extends Expression {
    private final Expression owner;
    private final Expression start;
    private final Expression stop;
    private final Expression step;

    /** Creates a slice. Null means that a bound is omitted. */
    Slice(Expression owner, Expression start, Expression stop, Expression step) {
      super(owner, start, stop, step);
      this.owner = owner;
      this.start = start;
      this.stop = stop;
      this.step = step;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      Object sliced = owner.value(interpreter, scope);
      return Operators.slice(
          interpreter.budget,
          sliced,
          start == null ? null : start.value(interpreter, scope),
          stop == null ? null : stop.value(interpreter, scope),
          step == null ? null : step.value(interpreter, scope));
    }
  }

  static final class Unary extends Expression {
    private final String operator;
    private final Expression operand;

    Unary(String operator, Expression operand) {
      super(operand);
      this.operator = operator;
      this.operand = operand;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      Object value = operand.value(interpreter, scope);
      return operator.equals("not") ? !Values.truth(value) : Operators.signed(operator, value);
    }
  }

  static final class Binary extends Expression {
    private final String operator;
    private final Expression left;
    private final Expression right;

    Binary(String operator, Expression left, Expression right) {
      super(left, right);
      this.operator = operator;
      this.left = left;
      this.right = right;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      Object a = left.value(interpreter, scope);
      if (operator.equals("and") || operator.equals("or")) {
        return Values.truth(a) == operator.equals("and") ? right.value(interpreter, scope) : a;
      }
      interpreter.budget.step();
      return Operators.binary(interpreter.budget, operator, a, right.value(interpreter, scope));
    }
  }

  /** Expressions joined by {@code ~}. */
  static final class Joined extends Expression {
    private final List<Expression> parts;

    Joined(List<Expression> parts) {
      super(parts.toArray(new Expression[0]));
      this.parts = parts;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      StringBuilder out = new StringBuilder();
      for (Expression part : parts) {
        String text = Printing.str(interpreter.budget, part.value(interpreter, scope));
        interpreter.budget.chars(text.length());
        out.append(text);
      }
      return out.toString();
    }
  }

  /** A chain of comparisons, such as {@code a < b <= c}. */
  static final class Compared extends Expression {
    private final Expression first;
    private final List<String> operators;
    private final List<Expression> others;

    Compared(Expression first, List<String> operators, List<Expression> others) {
      super(deepest(first, others));
      this.first = first;
      this.operators = operators;
      this.others = others;
    }

    private static Expression[] deepest(Expression first, List<Expression> others) {
      List<Expression> all = new ArrayList<>(others);
      all.add(first);
      return all.toArray(new Expression[0]);
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      Object left = first.value(interpreter, scope);
      for (int i = 0; i < others.size(); i++) {
        Object right = others.get(i).value(interpreter, scope);
        if (!holds(interpreter.budget, operators.get(i), left, right)) {
          return false;
        }
        left = right;
      }
      return true;
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
  }

  static final class Conditional extends Expression {
    private final Expression condition;
    private final Expression then;
    private final Expression otherwise;

    /** Creates a conditional expression; {@code otherwise} is null if there is no {@code else}. */
    Conditional(Expression condition, Expression then, Expression otherwise) {
      super(condition, then, otherwise);
      this.condition = condition;
      this.then = then;
      this.otherwise = otherwise;
    }

    @Override
    Object value(Interpreter interpreter, Scope scope) {
      if (Values.truth(condition.value(interpreter, scope))) {
        return then.value(interpreter, scope);
      }
      return otherwise == null
          ? Undefined.because(
              "the inline if-expression evaluated to false and no else section was defined.")
          : otherwise.value(interpreter, scope);
    }
  }
}
