package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.HasAttributes;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.Method;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads attributes and elements in the same way as Jinja2's immutable sandbox. */
public final class Attributes {
  private static final Set<String> LIST_MUTATORS =
      Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");
  private static final Set<String> DICT_MUTATORS =
      Set.of("clear", "pop", "popitem", "setdefault", "update");

  private Attributes() {}

  /** Returns {@code owner.name}: the attribute, or else the element with that name. */
  public static Object attribute(Object owner, String name) {
    if (owner instanceof Undefined undefined) {
      throw undefined.failure();
    }
    Object found = own(owner, name);
    if (found == Arguments.MISSING) {
      found = Operators.element(owner, name);
    }
    return found == Arguments.MISSING ? absent(owner, name) : found;
  }

  /** Returns {@code owner[index]}: the element, or else the attribute with that name. */
  public static Object item(Object owner, Object index) {
    if (owner instanceof Undefined undefined) {
      throw undefined.failure();
    }
    Object found = Operators.element(owner, index);
    if (found == Arguments.MISSING && Values.isText(index)) {
      String name = Values.text(index);
      found = own(owner, name);
      return found == Arguments.MISSING ? absent(owner, name) : found;
    }
    return found == Arguments.MISSING ? Undefined.of(owner, index) : found;
  }

  private static Undefined absent(Object owner, String name) {
    return name.startsWith("__") && name.endsWith("__")
        ? Undefined.unsafe(owner, name)
        : Undefined.of(owner, name);
  }

  /** Returns the attribute that belongs to the type of the value, or {@link Arguments#MISSING}. */
  static Object own(Object owner, String name) {
    if (owner instanceof HasAttributes object) {
      Object found = object.attribute(name);
      if (found != Arguments.MISSING) {
        return found;
      }
    }
    if (owner instanceof List && LIST_MUTATORS.contains(name)
        || owner instanceof Dict && DICT_MUTATORS.contains(name)) {
      return Undefined.unsafe(owner, name);
    }
    if (owner instanceof Tuple tuple && tuple.names().contains(name)) {
      return tuple.items().get(tuple.names().indexOf(name));
    }
    Map<String, Invocable> methods =
        Values.isText(owner)
            ? StringMethods.ALL
            : owner instanceof Dict ? DictMethods.ALL : Map.of();
    Invocable method = methods.get(name);
    if (method != null) {
      return new Method(owner, name, method);
    }
    return Arguments.MISSING;
  }
}
