package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.List;

/**
 * The attribute of each element that a filter reads, such as {@code function.name}.
 *
 * @param parts names and indexes; empty for the element itself
 * @param otherwise replaces an undefined value; null to keep it undefined
 */
record AttributePath(List<Object> parts, Object otherwise) {

  static AttributePath of(Object attribute, Object otherwise) {
    List<Object> parts = new ArrayList<>();
    if (Values.isText(attribute)) {
      for (String part : Values.text(attribute).split("\\.", -1)) {
        boolean index =
            !part.isEmpty() && part.length() < 10 && part.chars().allMatch(Character::isDigit);
        parts.add(index ? (Object) Long.valueOf(part) : part);
      }
    } else if (attribute != null) {
      parts.add(Numbers.isInt(attribute) ? Numbers.asLong(attribute) : attribute);
    }
    return new AttributePath(parts, otherwise);
  }

  /** Parses several attributes, separated by commas. */
  static List<AttributePath> several(Object attribute) {
    List<AttributePath> paths = new ArrayList<>();
    if (Values.isText(attribute)) {
      for (String one : Values.text(attribute).split(",", -1)) {
        paths.add(of(one, null));
      }
    } else {
      paths.add(of(attribute, null));
    }
    return paths;
  }

  Object get(Object item) {
    Object value = item;
    for (Object part : parts) {
      value = Attributes.item(value, part);
      if (otherwise != null && value instanceof Undefined) {
        value = otherwise;
      }
    }
    return value;
  }
}
