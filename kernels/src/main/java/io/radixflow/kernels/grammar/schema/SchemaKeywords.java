package io.radixflow.kernels.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.grammar.regex.Limits;
import io.radixflow.kernels.grammar.regex.Regex;
import java.math.BigDecimal;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/** Checks the keywords of one schema, and reads their values. */
final class SchemaKeywords {
  /** Keywords of JSON Schema's drafts that are not served; others that are unknown mean nothing. */
  private static final Set<String> REFUSED =
      Set.of(
          "not",
          "if",
          "then",
          "else",
          "contains",
          "minContains",
          "maxContains",
          "propertyNames",
          "dependentRequired",
          "dependentSchemas",
          "dependencies",
          "unevaluatedItems",
          "unevaluatedProperties",
          "$dynamicRef",
          "$dynamicAnchor",
          "$recursiveRef",
          "$recursiveAnchor",
          "contentSchema",
          "extends",
          "disallow",
          "divisibleBy");

  private static final Set<String> TYPES =
      Set.of("null", "boolean", "integer", "number", "string", "array", "object");

  private SchemaKeywords() {}

  static GrammarException refused(String keyword, String place, String why) {
    return new GrammarException(keyword, place, keyword + " " + why);
  }

  /** Checks that a schema's keywords are known and well-formed. */
  static void check(SchemaPart part) {
    Iterator<Map.Entry<String, JsonNode>> fields = part.schema().fields();
    while (fields.hasNext()) {
      Map.Entry<String, JsonNode> field = fields.next();
      String keyword = field.getKey();
      if (!isWellFormed(keyword, field.getValue(), part.place())) {
        throw refused(keyword, part.place(), "is malformed");
      }
    }
  }

  private static boolean isWellFormed(String keyword, JsonNode value, String place) {
    switch (keyword) {
      case "type":
        return isType(value) || value.isArray() && all(value, SchemaKeywords::isType);
      case "enum":
        return value.isArray();
      case "const":
        return true;
      case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
        return value.isNumber();
      case "multipleOf":
        return value.isNumber() && value.decimalValue().signum() > 0;
      case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
        return value.isNumber() && isCount(value.decimalValue());
      case "pattern", "format", "$ref":
        return value.isTextual();
      case "required":
        return value.isArray() && all(value, JsonNode::isTextual);
      case "properties", "patternProperties":
        return value.isObject() && all(value, SchemaKeywords::isSchema);
      case "additionalProperties", "additionalItems":
        return isSchema(value);
      case "items":
        return isSchema(value) || value.isArray() && all(value, SchemaKeywords::isSchema);
      case "prefixItems":
        return value.isArray() && all(value, SchemaKeywords::isSchema);
      case "allOf", "anyOf", "oneOf":
        return value.isArray() && !value.isEmpty() && all(value, SchemaKeywords::isSchema);
      case "uniqueItems":
        if (value.isBoolean() && !value.booleanValue()) {
          return true;
        }
        throw refused(keyword, place, "is not supported");
      default:
        if (REFUSED.contains(keyword)) {
          throw refused(keyword, place, "is not supported");
        }
        return true;
    }
  }

  private static boolean isType(JsonNode value) {
    return value.isTextual() && TYPES.contains(value.textValue());
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

  /** A least count, 0 without the keyword. */
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

  /** A greatest count, {@link Regex#MANY} without the keyword or where it is beyond reach. */
  static int most(SchemaPart part, String keyword) {
    JsonNode value = part.schema().get(keyword);
    boolean bounded =
        value != null && value.decimalValue().compareTo(BigDecimal.valueOf(Regex.MANY)) < 0;
    return bounded ? value.decimalValue().intValue() : Regex.MANY;
  }
}
