package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Checks the keywords of one schema, and reads their values. */
final class SchemaKeywords {
  /** Unsupported keywords of JSON Schema's drafts; other unknown keywords have no meaning. */
  private static final Set<String> REFUSED =
      Set.of(
          "maxContains",
          "unevaluatedItems",
          "unevaluatedProperties",
          "$recursiveRef",
          "$dynamicRef",
          "extends",
          "disallow",
          "divisibleBy");

  /** Keywords that count as absent if their value is null. */
  private static final Set<String> NULLABLE =
      Set.of(
          "enum",
          "minimum",
          "maximum",
          "exclusiveMinimum",
          "exclusiveMaximum",
          "multipleOf",
          "minLength",
          "maxLength",
          "minItems",
          "maxItems",
          "minProperties",
          "maxProperties",
          "minContains",
          "maxContains",
          "pattern",
          "format",
          "$ref",
          "required",
          "properties",
          "patternProperties",
          "additionalProperties",
          "additionalItems",
          "items",
          "prefixItems",
          "allOf",
          "anyOf",
          "oneOf",
          "not",
          "if",
          "then",
          "else",
          "contains",
          "propertyNames",
          "dependentRequired",
          "dependentSchemas",
          "dependencies",
          "uniqueItems",
          "unevaluatedItems",
          "unevaluatedProperties",
          "discriminator");

  private static final List<String> IN_PLACE =
      List.of("$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas");

  private static final Set<String> TYPES =
      Set.of("null", "boolean", "integer", "number", "string", "array", "object");

  private SchemaKeywords() {}

  static GrammarException refused(String keyword, String place, String why) {
    return new GrammarException(keyword, place, keyword + " " + why);
  }

  /** Rewrites the forms of older drafts and of schema generators to today's JSON Schema. */
  static void modernize(ObjectNode schema) {
    schema
        .properties()
        .removeIf(field -> field.getValue().isNull() && NULLABLE.contains(field.getKey()));
    JsonNode format = schema.get("format");
    if (format != null && format.isTextual() && Formats.regex(format.textValue()) == null) {
      schema.remove("format"); // an annotation
    }
    exclude(schema, "exclusiveMinimum", "minimum");
    exclude(schema, "exclusiveMaximum", "maximum");
    if (schema.has("dependencies") && schema.get("dependencies").isObject()) {
      schema
          .remove("dependencies")
          .fields()
          .forEachRemaining(
              field -> {
                String today =
                    field.getValue().isArray() ? "dependentRequired" : "dependentSchemas";
                ObjectNode known =
                    schema.get(today) instanceof ObjectNode own ? own : schema.putObject(today);
                known.set(field.getKey(), field.getValue());
              });
    }
    for (String reference : List.of("$recursiveRef", "$dynamicRef")) {
      if (schema.has(reference) && !schema.has("$ref")) {
        schema.set("$ref", schema.remove(reference));
      }
    }
    JsonNode unique = schema.get("uniqueItems");
    if (unique != null && unique.isBoolean() && !unique.booleanValue()) {
      schema.remove("uniqueItems");
    }
    JsonNode least = schema.get("minContains");
    if (least != null && least.isNumber() && least.decimalValue().signum() == 0) {
      schema.remove(List.of("minContains", "contains"));
    }
    unevaluated(schema, "unevaluatedProperties", "additionalProperties");
    unevaluated(schema, "unevaluatedItems", "items");
  }

  /** Rewrites the flag of draft 4 that excludes the bound itself. */
  private static void exclude(ObjectNode schema, String exclusive, String bound) {
    JsonNode flag = schema.get(exclusive);
    if (flag == null || !flag.isBoolean()) {
      return;
    }
    schema.remove(exclusive);
    if (flag.booleanValue() && schema.has(bound)) {
      schema.set(exclusive, schema.remove(bound));
    }
  }

  /** If no other schema applies in place, unevaluated values are the same as unlisted values. */
  private static void unevaluated(ObjectNode schema, String keyword, String additional) {
    JsonNode value = schema.get(keyword);
    if (value == null) {
      return;
    }
    boolean any = value.isBoolean() && value.booleanValue() || value.isObject() && value.isEmpty();
    JsonNode listed = schema.get(additional);
    boolean all = listed != null && !listed.isArray();
    boolean alone = IN_PLACE.stream().noneMatch(schema::has) && !schema.has("contains");
    if (any || all) {
      schema.remove(keyword);
    } else if (alone && isSchema(value)) {
      schema.remove(keyword);
      schema.set(listed == null ? additional : "additionalItems", value);
    }
  }

  /**
   * Checks that a schema's keywords are supported and well-formed.
   *
   * @param loose receives the error of each keyword that is left out; null to refuse the schema
   */
  static void check(SchemaPart part, Consumer<GrammarException> loose) {
    List<String> wrong = new ArrayList<>();
    part.schema()
        .fields()
        .forEachRemaining(
            field -> {
              String keyword = field.getKey();
              String why =
                  REFUSED.contains(keyword)
                      ? "is not supported"
                      : isWellFormed(keyword, field.getValue()) ? null : "is malformed";
              if (why != null && loose == null) {
                throw refused(keyword, part.place(), why);
              }
              if (why != null) {
                wrong.add(keyword);
                loose.accept(refused(keyword, part.place(), why));
              }
            });
    if (!wrong.isEmpty()) {
      ((ObjectNode) part.schema()).remove(wrong);
    }
  }

  private static boolean isWellFormed(String keyword, JsonNode value) {
    return switch (keyword) {
      case "type" -> isType(value) || value.isArray() && all(value, SchemaKeywords::isType);
      case "enum", Negation.NOT_ENUM -> value.isArray();
      case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" -> value.isNumber();
      case "multipleOf" -> value.isNumber() && value.decimalValue().signum() > 0;
      case "minLength",
          "maxLength",
          "minItems",
          "maxItems",
          "minProperties",
          "maxProperties",
          "minContains" ->
          value.isNumber() && isCount(value.decimalValue());
      case "pattern", "format", "$ref", Negation.NOT_PATTERN, Negation.NOT_FORMAT ->
          value.isTextual();
      case "required" -> value.isArray() && all(value, JsonNode::isTextual);
      case "properties", "patternProperties", "dependentSchemas" ->
          value.isObject() && all(value, SchemaKeywords::isSchema);
      case "dependentRequired" ->
          value.isObject() && all(value, v -> v.isArray() && all(v, JsonNode::isTextual));
      case "additionalProperties",
          "additionalItems",
          "not",
          "if",
          "then",
          "else",
          "contains",
          "propertyNames" ->
          isSchema(value);
      case "items" -> isSchema(value) || value.isArray() && all(value, SchemaKeywords::isSchema);
      case "prefixItems" -> value.isArray() && all(value, SchemaKeywords::isSchema);
      case "allOf", "anyOf", "oneOf" ->
          value.isArray() && !value.isEmpty() && all(value, SchemaKeywords::isSchema);
      case "uniqueItems" -> value.isBoolean();
      default -> true;
    };
  }

  private static boolean isType(JsonNode value) {
    return value.isTextual()
        && (TYPES.contains(value.textValue()) || value.textValue().equals(Negation.FRACTION));
  }

  private static boolean isSchema(JsonNode value) {
    return value.isObject() || value.isBoolean();
  }

  private static boolean isCount(BigDecimal value) {
    return value.signum() >= 0 && value.stripTrailingZeros().scale() <= 0;
  }

  private static boolean all(JsonNode values, java.util.function.Predicate<JsonNode> test) {
    for (JsonNode value : values) {
      if (!test.test(value)) {
        return false;
      }
    }
    return true;
  }

  /** Returns a least count; 0 without the keyword. */
  static int least(SchemaPart part, String keyword) {
    JsonNode value = part.schema().get(keyword);
    if (value == null) {
      return 0;
    }
    if (value.decimalValue().compareTo(BigDecimal.valueOf(Limits.REPEAT)) > 0) {
      throw GrammarException.tooLarge(keyword + " is above " + Limits.REPEAT);
    }
    return value.decimalValue().intValue();
  }

  /**
   * Returns a greatest count; {@link Regex#MANY} without the keyword or if the count is too large
   * to matter.
   */
  static int most(SchemaPart part, String keyword) {
    JsonNode value = part.schema().get(keyword);
    boolean bounded =
        value != null && value.decimalValue().compareTo(BigDecimal.valueOf(Regex.MANY)) < 0;
    return bounded ? value.decimalValue().intValue() : Regex.MANY;
  }
}
