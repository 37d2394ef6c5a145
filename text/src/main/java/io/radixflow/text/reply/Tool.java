package io.radixflow.text.reply;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A function that a reply may call.
 *
 * @param parameters the parsed JSON schema of its arguments; empty to allow any
 * @param strict whether its arguments must match the schema
 */
public record Tool(String name, Map<String, ?> parameters, boolean strict) {

  private static final int MAX_DEPTH = 8;
  private static final Set<String> PLAIN = Set.of("type", "description", "title", "default");

  /**
   * Reads parsed tools in OpenAI's form: objects with {@code function}, or just the functions.
   *
   * @throws IllegalArgumentException if a tool has no name, or its parameters are not an object
   */
  public static List<Tool> list(List<?> tools) {
    List<Tool> list = new ArrayList<>();
    for (Object tool : tools) {
      list.add(of(tool));
    }
    return List.copyOf(list);
  }

  private static Tool of(Object tool) {
    Object function =
        tool instanceof Map<?, ?> map && map.containsKey("function") ? map.get("function") : tool;
    if (!(function instanceof Map<?, ?> map)
        || !(map.get("name") instanceof String name)
        || name.isEmpty()) {
      throw new IllegalArgumentException("a tool has no name");
    }
    Object parameters = map.get("parameters");
    if (parameters == null) {
      parameters = Map.of();
    }
    if (!(parameters instanceof Map<?, ?>)) {
      throw new IllegalArgumentException("the parameters of tool " + name + " are not an object");
    }
    @SuppressWarnings("unchecked")
    Map<String, ?> schema = (Map<String, ?>) parameters;
    return new Tool(name, schema, Boolean.TRUE.equals(map.get("strict")));
  }

  /** The schemas of the parameters by name; empty if the schema has none. */
  Map<String, Object> properties() {
    Map<String, Object> properties = new LinkedHashMap<>();
    if (parameters.get("properties") instanceof Map<?, ?> map) {
      map.forEach((key, schema) -> properties.put(String.valueOf(key), schema));
    }
    return properties;
  }

  boolean isRequired(String parameter) {
    return parameters.get("required") instanceof Collection<?> names && names.contains(parameter);
  }

  /** The JSON types that the schema allows for a parameter; empty if it does not say. */
  Set<String> types(String parameter) {
    Set<String> types = new LinkedHashSet<>();
    return addTypes(properties().get(parameter), types, 0) ? types : Set.of();
  }

  /** Returns whether a union only lists types. If one is a string, any text is valid then. */
  boolean isPlainUnion(Object schemas) {
    return schemas instanceof Collection<?> all
        && all.stream().allMatch(s -> PLAIN.containsAll(resolve(s).keySet()));
  }

  /**
   * Follows references inside the parameters' schema. Returns an empty map if a schema is not an
   * object.
   */
  Map<?, ?> resolve(Object schema) {
    Object at = schema;
    for (int i = 0; i < MAX_DEPTH && at instanceof Map<?, ?> map; i++) {
      if (!(map.get("$ref") instanceof String ref) || !ref.startsWith("#/")) {
        return map;
      }
      at = parameters;
      for (String name : ref.substring(2).split("/")) {
        at = at instanceof Map<?, ?> parent ? parent.get(name) : null;
      }
    }
    return Map.of();
  }

  /** Adds the types of a schema. Returns false if the schema does not determine all of them. */
  private boolean addTypes(Object schema, Set<String> types, int depth) {
    Map<?, ?> map = resolve(schema);
    if (map.isEmpty() || depth > MAX_DEPTH) {
      return false;
    }
    Object type = map.get("type");
    if (type instanceof String one) {
      types.add(one);
      return true;
    }
    if (type instanceof Collection<?> several) {
      several.forEach(t -> types.add(String.valueOf(t)));
      return !several.isEmpty();
    }
    for (String union : List.of("anyOf", "oneOf")) {
      if (map.get(union) instanceof Collection<?> schemas && !schemas.isEmpty()) {
        boolean all = true;
        for (Object option : schemas) {
          all &= addTypes(option, types, depth + 1);
        }
        return all;
      }
    }
    return map.get("enum") instanceof Collection<?> values && addTypesOf(values, types);
  }

  private static boolean addTypesOf(Collection<?> values, Set<String> types) {
    for (Object value : values) {
      types.add(
          value == null
              ? "null"
              : value instanceof String
                  ? "string"
                  : value instanceof Boolean
                      ? "boolean"
                      : value instanceof Number
                          ? "number"
                          : value instanceof Collection ? "array" : "object");
    }
    return !values.isEmpty();
  }
}
