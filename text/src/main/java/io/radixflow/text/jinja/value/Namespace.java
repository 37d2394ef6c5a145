package io.radixflow.text.jinja.value;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The object that {@code namespace()} returns. It is the only kind of object that templates can
 * change.
 */
public final class Namespace implements HasAttributes {
  private final Map<String, Object> attributes = new LinkedHashMap<>();

  @Override
  public Object attribute(String name) {
    return attributes.getOrDefault(name, Arguments.MISSING);
  }

  /** Sets an attribute. Names that begin with an underscore are errors. */
  public void set(String name, Object value) {
    if (name.startsWith("_")) {
      throw JinjaException.of("SecurityError", "a namespace has no attribute '%s'", name);
    }
    attributes.put(name, value);
  }

  @Override
  public String toString() {
    return "<Namespace>";
  }
}
