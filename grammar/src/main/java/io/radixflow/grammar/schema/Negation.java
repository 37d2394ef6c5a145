package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the schema of the values that do not match a schema: a choice of the ways in which a value
 * can fail one of its keywords. Three additional keywords express what JSON Schema cannot express.
 */
record Negation(SchemaCompiler compiler) {
  /** The prefix of the keywords that only schemas made here have. */
  static final String OWN = "\0";

  static final String NOT_ENUM = OWN + "notEnum";
  static final String NOT_PATTERN = OWN + "notPattern";
  static final String NOT_FORMAT = OWN + "notFormat";

  /** The type of numbers that are not integers, in schemas made here. */
  static final String FRACTION = OWN + "fraction";

  private static final List<String> TYPES =
      List.of("null", "boolean", "integer", FRACTION, "string", "array", "object");

  /** Keywords whose failure cannot be written as a schema. */
  private static final Set<String> HARD =
      Set.of(
          "multipleOf",
          "oneOf",
          "if",
          "patternProperties",
          "additionalProperties",
          "propertyNames",
          "items",
          "additionalItems",
          "prefixItems",
          "contains",
          "uniqueItems",
          "dependentRequired",
          "dependentSchemas",
          "unevaluatedProperties",
          "unevaluatedItems");

  private static final Map<String, String> OPPOSITE =
      Map.of(
          "minimum", "exclusiveMaximum",
          "maximum", "exclusiveMinimum",
          "exclusiveMinimum", "maximum",
          "exclusiveMaximum", "minimum");

  private static final int MAX_DEPTH = 30;
  private static final JsonNodeFactory JSON = JsonNodeFactory.withExactBigDecimals(true);

  /**
   * Returns the schema of all other values.
   *
   * @param keyword the keyword that needs the negation, for errors
   */
  JsonNode of(SchemaPart part, String keyword) {
    return of(part, keyword, 0);
  }

  private JsonNode of(SchemaPart part, String keyword, int depth) {
    JsonNode schema = part.schema();
    if (schema.isBoolean()) {
      return BooleanNode.valueOf(!schema.booleanValue());
    }
    compiler.prepare(part);
    if (depth > MAX_DEPTH) {
      throw SchemaKeywords.refused(keyword, part.place(), "nests too deep, or leads to itself");
    }
    List<JsonNode> ways = new ArrayList<>();
    for (Iterator<Map.Entry<String, JsonNode>> fields = schema.fields(); fields.hasNext(); ) {
      Map.Entry<String, JsonNode> field = fields.next();
      fail(part, field.getKey(), field.getValue(), keyword, depth, ways);
    }
    ways.removeIf(way -> way.isBoolean() && !way.booleanValue());
    if (ways.isEmpty()) {
      return BooleanNode.FALSE;
    }
    return ways.size() == 1 ? ways.get(0) : JSON.objectNode().set("anyOf", array(ways));
  }

  private static ArrayNode array(List<JsonNode> values) {
    ArrayNode array = JSON.arrayNode();
    values.forEach(array::add);
    return array;
  }

  private static ObjectNode typed(String type) {
    return JSON.objectNode().put("type", type);
  }

  /** Adds the ways in which a value can fail a keyword. */
  private void fail(
      SchemaPart part, String key, JsonNode value, String asking, int depth, List<JsonNode> ways) {
    switch (key) {
      case "type" -> {
        Set<ValueRules.Type> types = ValueRules.types(value);
        ArrayNode others = JSON.arrayNode();
        for (String type : TYPES) {
          if (!types.containsAll(ValueRules.types(JSON.textNode(type)))) {
            others.add(type);
          }
        }
        ways.add(others.isEmpty() ? BooleanNode.FALSE : JSON.objectNode().set("type", others));
      }
      case "const" -> ways.add(JSON.objectNode().set(NOT_ENUM, JSON.arrayNode().add(value)));
      case "enum" -> ways.add(JSON.objectNode().set(NOT_ENUM, value));
      case NOT_ENUM -> ways.add(JSON.objectNode().set("enum", value));
      case "pattern" -> ways.add(typed("string").set(NOT_PATTERN, value));
      case NOT_PATTERN -> ways.add(typed("string").set("pattern", value));
      case "format" -> ways.add(typed("string").set(NOT_FORMAT, value));
      case NOT_FORMAT -> ways.add(typed("string").set("format", value));
      case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" ->
          ways.add(typed("number").set(OPPOSITE.get(key), value));
      case "minLength", "minItems", "minProperties" -> {
        int least = SchemaKeywords.least(part, key);
        ways.add(
            least == 0 ? BooleanNode.FALSE : counted(key).put("max" + key.substring(3), least - 1));
      }
      case "maxLength", "maxItems", "maxProperties" ->
          ways.add(counted(key).put("min" + key.substring(3), SchemaKeywords.most(part, key) + 1L));
      case "required" -> value.forEach(name -> ways.add(absent(name.textValue())));
      case "properties" ->
          value
              .fieldNames()
              .forEachRemaining(
                  name -> {
                    JsonNode other = of(part.child(key, name), asking, depth + 1);
                    ObjectNode way = typed("object");
                    way.putArray("required").add(name);
                    way.putObject("properties").set(name, other);
                    ways.add(other.isBoolean() && !other.booleanValue() ? other : way);
                  });
      case "allOf", "anyOf" -> {
        List<JsonNode> others = new ArrayList<>();
        for (int i = 0; i < value.size(); i++) {
          others.add(of(part.child(key, i), asking, depth + 1));
        }
        if (key.equals("allOf")) {
          ways.addAll(others);
        } else {
          ways.add(JSON.objectNode().set("allOf", array(others)));
        }
      }
      case "not" -> ways.add(value);
      case "$ref" -> ways.add(of(compiler.resolve(part), asking, depth + 1));
      default -> {
        boolean trivial = value.isBoolean() && value.booleanValue() || value.isEmpty();
        if (HARD.contains(key)
            && !(value.isContainerNode() || value.isBoolean() ? trivial : false)) {
          throw SchemaKeywords.refused(
              asking, part.place(), "is not supported where it reaches " + key);
        }
      }
    }
  }

  private static ObjectNode counted(String key) {
    return typed(key.endsWith("Length") ? "string" : key.endsWith("Items") ? "array" : "object");
  }

  /**
   * Returns a schema of the objects without a property; because it has no {@code type}, it also
   * allows all other values.
   */
  static ObjectNode absent(String name) {
    ObjectNode way = typed("object");
    way.putObject("properties").put(name, false);
    return way;
  }
}
