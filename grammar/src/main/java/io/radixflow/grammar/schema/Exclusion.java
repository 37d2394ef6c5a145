package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * Finds branches of a {@code oneOf} that exclude one another by their form: by their types, their
 * listed values, or the listed values of a property that one of them requires. Other branches may
 * exclude one another as well, but are not found.
 */
final class Exclusion {
  private static final int MAX_REFERENCES = 8;

  /** The most properties of a branch to look at. */
  private static final int MAX_PROPERTIES = 16;

  private final SchemaCompiler compiler;
  private final Map<JsonNode, Form> forms = new IdentityHashMap<>();

  Exclusion(SchemaCompiler compiler) {
    this.compiler = compiler;
  }

  /** The constraints of a schema on its values; an unknown set of values is null. */
  private static final class Form {
    final Set<ValueRules.Type> types = EnumSet.allOf(ValueRules.Type.class);
    final Map<String, Set<Object>> properties = new HashMap<>();
    final Set<String> required = new HashSet<>();
    Set<Object> values;
  }

  boolean isBetween(SchemaPart one, SchemaPart other) {
    Form a = form(one);
    Form b = form(other);
    Set<ValueRules.Type> common = EnumSet.copyOf(a.types);
    common.retainAll(b.types);
    if (common.isEmpty() || areDisjoint(a.values, b.values)) {
      return true;
    }
    if (common.size() > 1 || !common.contains(ValueRules.Type.OBJECT)) {
      return false;
    }
    for (Map.Entry<String, Set<Object>> property : a.properties.entrySet()) {
      String name = property.getKey();
      if ((a.required.contains(name) || b.required.contains(name))
          && areDisjoint(property.getValue(), b.properties.get(name))) {
        return true;
      }
    }
    return false;
  }

  private static boolean areDisjoint(Set<Object> a, Set<Object> b) {
    return a != null && b != null && Collections.disjoint(a, b);
  }

  private Form form(SchemaPart part) {
    Form known = forms.get(part.schema());
    if (known == null) {
      known = new Form();
      collect(part, known, 0);
      forms.put(part.schema(), known);
    }
    return known;
  }

  private void collect(SchemaPart part, Form form, int references) {
    JsonNode schema = part.schema();
    if (!schema.isObject() || references > MAX_REFERENCES) {
      return;
    }
    compiler.prepare(part);
    if (part.has("$ref")) {
      collect(compiler.resolve(part), form, references + 1);
    }
    for (int i = 0; part.has("allOf") && i < schema.get("allOf").size(); i++) {
      collect(part.child("allOf", i), form, references + 1);
    }
    if (part.has("type")) {
      form.types.retainAll(ValueRules.types(schema.get("type")));
    }
    if (part.has("required")) {
      schema.get("required").forEach(name -> form.required.add(name.textValue()));
    }
    Set<Object> values = values(schema);
    form.values = values == null ? form.values : values;
    if (part.has("properties")) {
      Iterator<Map.Entry<String, JsonNode>> fields = schema.get("properties").fields();
      while (fields.hasNext() && form.properties.size() < MAX_PROPERTIES) {
        Map.Entry<String, JsonNode> field = fields.next();
        Set<Object> listed = values(field.getValue());
        if (listed != null) {
          form.properties.merge(field.getKey(), listed, Exclusion::common);
        }
      }
    }
  }

  private static Set<Object> common(Set<Object> a, Set<Object> b) {
    Set<Object> common = new HashSet<>(a);
    common.retainAll(b);
    return common;
  }

  /**
   * Returns the values that a schema lists, numbers by their value; null if it lists no values or
   * other kinds of values.
   */
  private static Set<Object> values(JsonNode schema) {
    JsonNode listed = schema.has("const") ? schema.get("const") : schema.get("enum");
    if (listed == null || !schema.has("const") && !listed.isArray()) {
      return null;
    }
    Set<Object> values = new HashSet<>();
    for (JsonNode value : schema.has("const") ? Set.of(listed) : listed) {
      if (value.isContainerNode()) {
        return null;
      }
      values.add(
          value.isNumber()
              ? value.decimalValue().stripTrailingZeros()
              : value.isTextual() ? value.textValue() : value);
    }
    return values;
  }
}
