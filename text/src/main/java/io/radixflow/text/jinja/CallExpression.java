package io.radixflow.text.jinja;

import io.radixflow.text.jinja.builtin.Builtins;
import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A call of a function, a filter or a test. */
final class CallExpression extends Expression {
  enum Kind {
    FUNCTION,
    FILTER,
    TEST
  }

  /**
   * The arguments of a call in the template's source.
   *
   * @param all the value of {@code *args}, or null
   * @param allNamed the value of {@code **kwargs}, or null
   */
  record Written(
      List<Expression> positional,
      Map<String, Expression> named,
      Expression all,
      Expression allNamed) {
    static final Written NONE = new Written(List.of(), Map.of(), null, null);

    private List<Expression> parts(Expression first) {
      List<Expression> parts = new ArrayList<>(positional);
      parts.addAll(named.values());
      parts.add(all);
      parts.add(allNamed);
      parts.add(first);
      return parts;
    }
  }

  private final Kind kind;
  private final String name;
  private final Expression target;
  private final Written written;

  /**
   * @param name name of a filter or test
   * @param target the function, or the value to filter or test; null in a block
   */
  CallExpression(Kind kind, String name, Expression target, Written written) {
    super(written.parts(target));
    this.kind = kind;
    this.name = name;
    this.target = target;
    this.written = written;
  }

  boolean isFunction() {
    return kind == Kind.FUNCTION;
  }

  @Override
  Object value(Interpreter interpreter, Scope scope) {
    return value(interpreter, scope, target.value(interpreter, scope), null);
  }

  /** Applies a filter that has no value of its own, as in a filter block, to a text. */
  Object filtered(Interpreter interpreter, Scope scope, Object text) {
    Object value =
        target == null ? text : ((CallExpression) target).filtered(interpreter, scope, text);
    return value(interpreter, scope, value, null);
  }

  /** Calls the target with the macro of a call block. */
  Object calledWith(Interpreter interpreter, Scope scope, Macro caller) {
    return value(interpreter, scope, target.value(interpreter, scope), caller);
  }

  private Object value(Interpreter interpreter, Scope scope, Object on, Macro caller) {
    interpreter.budget.step();
    if (kind == Kind.FUNCTION) {
      Arguments arguments = arguments(interpreter, scope, Arguments.MISSING, caller);
      if (on instanceof Invocable function) {
        return function.call(interpreter.budget, arguments);
      }
      throw on instanceof Undefined undefined
          ? undefined.failure()
          : JinjaException.type("'%s' object is not callable", Values.type(on));
    }
    Arguments arguments = arguments(interpreter, scope, on, null);
    return kind == Kind.FILTER
        ? Builtins.filter(interpreter.budget, name, arguments)
        : (Object) Builtins.test(interpreter.budget, name, arguments);
  }

  private Arguments arguments(Interpreter interpreter, Scope scope, Object first, Macro caller) {
    List<Object> positional = new ArrayList<>(written.positional().size() + 1);
    if (first != Arguments.MISSING) {
      positional.add(first);
    }
    for (Expression argument : written.positional()) {
      positional.add(argument.value(interpreter, scope));
    }
    if (written.all() != null) {
      positional.addAll(Values.list(interpreter.budget, written.all().value(interpreter, scope)));
    }
    if (written.named().isEmpty() && written.allNamed() == null && caller == null) {
      return new Arguments(positional, Map.of());
    }
    Map<String, Object> named = new LinkedHashMap<>();
    written.named().forEach((key, value) -> named.put(key, value.value(interpreter, scope)));
    if (caller != null) {
      named.put("caller", caller);
    }
    if (written.allNamed() != null) {
      spread(written.allNamed().value(interpreter, scope), named);
    }
    return new Arguments(positional, named);
  }

  private static void spread(Object value, Map<String, Object> named) {
    if (!(value instanceof Dict dict)) {
      throw JinjaException.type("argument after ** must be a mapping, not %s", Values.type(value));
    }
    for (Object key : dict.keys()) {
      if (!(key instanceof String text)) {
        throw JinjaException.type("keywords must be strings");
      }
      if (named.containsKey(text)) {
        throw JinjaException.type("got multiple values for keyword argument '%s'", text);
      }
      named.put(text, dict.get(key));
    }
  }
}
