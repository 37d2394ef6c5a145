package io.radixflow.text.jinja;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.HasAttributes;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A macro, or the body of a call block, together with the scope in which it was defined. */
record Macro(Definition definition, Interpreter interpreter, Scope scope)
    implements Invocable, HasAttributes {
  /**
   * @param defaults default values of the last parameters
   * @param uses which of {@code caller}, {@code varargs} and {@code kwargs} the body reads
   */
  record Definition(
      String name,
      List<String> parameters,
      List<Expression> defaults,
      Set<String> uses,
      List<Statement> body) {}

  @Override
  public Object call(Budget budget, Arguments arguments) {
    budget.enter();
    Scope inner = new Scope(scope);
    Map<String, Object> named = new LinkedHashMap<>(arguments.named());
    List<String> parameters = definition.parameters();
    List<Object> given = arguments.positional();
    for (int i = 0; i < parameters.size(); i++) {
      Object value =
          i < given.size()
              ? given.get(i)
              : named.containsKey(parameters.get(i))
                  ? named.remove(parameters.get(i))
                  : Arguments.MISSING;
      inner.set(parameters.get(i), value);
    }
    bindCaller(inner, named);
    bindRest(budget, inner, given, named);
    bindDefaults(inner);
    String text = interpreter.captured(() -> interpreter.run(definition.body(), inner));
    budget.leave();
    return text;
  }

  private void bindCaller(Scope inner, Map<String, Object> named) {
    if (definition.uses().contains("caller") && !definition.parameters().contains("caller")) {
      Object caller = named.remove("caller");
      inner.set("caller", caller == null ? Undefined.because("No caller defined") : caller);
    }
  }

  private void bindRest(Budget budget, Scope inner, List<Object> given, Map<String, Object> named) {
    if (definition.uses().contains("kwargs")) {
      Dict rest = new Dict();
      budget.items(named.size());
      named.forEach(rest::put);
      inner.set("kwargs", rest);
    } else if (!named.isEmpty()) {
      throw JinjaException.type(
          "macro '%s' takes no keyword argument '%s'",
          definition.name(), named.keySet().iterator().next());
    }
    int count = definition.parameters().size();
    if (definition.uses().contains("varargs")) {
      inner.set(
          "varargs",
          new Tuple(new ArrayList<>(given.subList(Math.min(count, given.size()), given.size()))));
    } else if (given.size() > count) {
      throw JinjaException.type(
          "macro '%s' takes not more than %d argument(s)", definition.name(), count);
    }
  }

  private void bindDefaults(Scope inner) {
    List<String> parameters = definition.parameters();
    int required = parameters.size() - definition.defaults().size();
    for (int i = 0; i < parameters.size(); i++) {
      String name = parameters.get(i);
      if (inner.get(name) == Arguments.MISSING) {
        inner.set(
            name,
            i < required
                ? Undefined.because("parameter '" + name + "' was not provided")
                : definition.defaults().get(i - required).value(interpreter, inner));
      }
    }
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "name" -> definition.name();
      case "arguments" -> new Tuple(new ArrayList<>(definition.parameters()));
      default -> Arguments.MISSING;
    };
  }

  @Override
  public String toString() {
    return definition.name() == null ? "<Macro anonymous>" : "<Macro '" + definition.name() + "'>";
  }
}
