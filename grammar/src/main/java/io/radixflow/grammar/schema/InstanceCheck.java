package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Checks the values that a schema lists against the schema's other keywords. */
final class InstanceCheck {
  private static final int MAX_STEPS = 100_000;
  private static final int MAX_DEPTH = 300;

  private final SchemaCompiler compiler;
  private final RegexPool pool;
  private int steps;
  private int depth;

  InstanceCheck(SchemaCompiler compiler) {
    this.compiler = compiler;
    pool = compiler.book.pool;
  }

  /** Returns whether a value matches a schema with its references and choices. */
  boolean isValid(JsonNode value, SchemaPart part) {
    if (part.schema().isBoolean()) {
      return part.schema().booleanValue();
    }
    pool.spend(1);
    if (++steps > MAX_STEPS || depth > MAX_DEPTH) {
      throw GrammarException.tooLarge("the values of an enum or const take too long to check");
    }
    compiler.prepare(part);
    depth++;
    boolean valid = meets(value, part) && meetsOthers(value, part);
    depth--;
    return valid;
  }

  private boolean meetsOthers(JsonNode value, SchemaPart part) {
    if (part.has("$ref") && !isValid(value, compiler.resolve(part))) {
      return false;
    }
    return (!part.has("allOf") || count(value, part, "allOf") == part.schema().get("allOf").size())
        && (!part.has("anyOf") || count(value, part, "anyOf") > 0)
        && (!part.has("oneOf") || count(value, part, "oneOf") == 1)
        && (!part.has("not") || !isValid(value, part.child("not")))
        && meetsConditions(value, part);
  }

  private boolean meetsConditions(JsonNode value, SchemaPart part) {
    if (part.has("if")) {
      String branch = isValid(value, part.child("if")) ? "then" : "else";
      if (part.has(branch) && !isValid(value, part.child(branch))) {
        return false;
      }
    }
    for (String keyword : List.of("dependentRequired", "dependentSchemas")) {
      JsonNode names = part.schema().get(keyword);
      for (var each = names == null ? null : names.fieldNames(); each != null && each.hasNext(); ) {
        String name = each.next();
        if (value.has(name) && !isValid(value, compiler.dependent(part, keyword, name))) {
          return false;
        }
      }
    }
    return true;
  }

  private int count(JsonNode value, SchemaPart part, String keyword) {
    int valid = 0;
    for (int i = 0; i < part.schema().get(keyword).size(); i++) {
      valid += isValid(value, part.child(keyword, i)) ? 1 : 0;
    }
    return valid;
  }

  /** Returns whether a value matches a schema's keywords other than references and choices. */
  boolean meets(JsonNode value, SchemaPart part) {
    JsonNode schema = part.schema();
    return (!part.has("const") || equal(value, schema.get("const")))
        && (!part.has("enum") || isListed(value, schema.get("enum")))
        && meetsUnlisted(value, part);
  }

  /**
   * Returns whether a value matches a schema's keywords other than {@code enum} and {@code const}.
   */
  boolean meetsUnlisted(JsonNode value, SchemaPart part) {
    JsonNode schema = part.schema();
    if (part.has("type") && !ValueRules.types(schema.get("type")).contains(type(value))
        || part.has(Negation.NOT_ENUM) && isListed(value, schema.get(Negation.NOT_ENUM))) {
      return false;
    }
    if (value.isNumber()) {
      return meetsNumber(value.decimalValue(), schema);
    }
    if (value.isTextual()) {
      return meetsString(value.textValue(), part);
    }
    if (value.isArray()) {
      return meetsArray(value, part);
    }
    return !value.isObject() || meetsObject(value, part);
  }

  private static ValueRules.Type type(JsonNode value) {
    return switch (value.getNodeType()) {
      case NULL -> ValueRules.Type.NULL;
      case BOOLEAN -> ValueRules.Type.BOOLEAN;
      case STRING -> ValueRules.Type.STRING;
      case ARRAY -> ValueRules.Type.ARRAY;
      case OBJECT -> ValueRules.Type.OBJECT;
      default ->
          value.decimalValue().stripTrailingZeros().scale() <= 0
              ? ValueRules.Type.INTEGER
              : ValueRules.Type.FRACTION;
    };
  }

  private static boolean isListed(JsonNode value, JsonNode values) {
    for (JsonNode other : values) {
      if (equal(value, other)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether JSON values are equal; numbers are compared by value. */
  private static boolean equal(JsonNode a, JsonNode b) {
    return a.equals(
        (x, y) ->
            x.isNumber() && y.isNumber()
                ? x.decimalValue().compareTo(y.decimalValue())
                : x.equals(y) ? 0 : 1,
        b);
  }

  private static boolean meetsNumber(BigDecimal value, JsonNode schema) {
    if (schema.has("minimum") && value.compareTo(schema.get("minimum").decimalValue()) < 0
        || schema.has("maximum") && value.compareTo(schema.get("maximum").decimalValue()) > 0
        || schema.has("exclusiveMinimum")
            && value.compareTo(schema.get("exclusiveMinimum").decimalValue()) <= 0
        || schema.has("exclusiveMaximum")
            && value.compareTo(schema.get("exclusiveMaximum").decimalValue()) >= 0) {
      return false;
    }
    if (!schema.has("multipleOf")) {
      return true;
    }
    BigDecimal divisor = schema.get("multipleOf").decimalValue();
    if (Math.abs((long) value.scale()) + Math.abs((long) divisor.scale()) > Limits.DIGITS) {
      throw GrammarException.tooLarge("a number has more than " + Limits.DIGITS + " digits");
    }
    return value.remainder(divisor).signum() == 0;
  }

  private boolean meetsString(String value, SchemaPart part) {
    int length = value.codePointCount(0, value.length());
    return length >= SchemaKeywords.least(part, "minLength")
        && length <= SchemaKeywords.most(part, "maxLength")
        && pool.derivatives.matches(new StringLanguage(compiler).content(part), value);
  }

  private boolean meetsArray(JsonNode value, SchemaPart part) {
    if (value.size() < SchemaKeywords.least(part, "minItems")
        || value.size() > SchemaKeywords.most(part, "maxItems")) {
      return false;
    }
    int contained = 0;
    Set<JsonNode> distinct = new HashSet<>();
    for (int i = 0; i < value.size(); i++) {
      SchemaPart item = ArrayRules.item(part, i);
      if (item != null && !isValid(value.get(i), item)) {
        return false;
      }
      contained += part.has("contains") && isValid(value.get(i), part.child("contains")) ? 1 : 0;
      distinct.add(value.get(i));
    }
    return (!part.has("uniqueItems") || distinct.size() == value.size())
        && (!part.has("contains") || contained >= ArrayRules.leastContained(part));
  }

  private boolean meetsObject(JsonNode value, SchemaPart part) {
    if (value.size() < SchemaKeywords.least(part, "minProperties")
        || value.size() > SchemaKeywords.most(part, "maxProperties")) {
      return false;
    }
    if (part.has("required")) {
      for (JsonNode name : part.schema().get("required")) {
        if (!value.has(name.textValue())) {
          return false;
        }
      }
    }
    Regex names =
        part.has("propertyNames")
            ? new StringLanguage(compiler).of(part.child("propertyNames"))
            : pool.anyText;
    for (Iterator<Map.Entry<String, JsonNode>> fields = value.fields(); fields.hasNext(); ) {
      Map.Entry<String, JsonNode> field = fields.next();
      if (!pool.derivatives.matches(names, field.getKey())) {
        return false;
      }
      for (SchemaPart schema : ObjectRules.propertySchemas(pool, part, field.getKey())) {
        if (!isValid(field.getValue(), schema)) {
          return false;
        }
      }
    }
    return true;
  }
}
