package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.text.regex.CodePoints;
import java.util.ArrayList;
import java.util.List;

/** Computes the strings that match a schema, as a regular language of their values. */
final class StringLanguage {
  private static final int MAX_DEPTH = 30;

  private final SchemaCompiler compiler;
  private final RegexPool pool;
  private int depth;

  StringLanguage(SchemaCompiler compiler) {
    this.compiler = compiler;
    pool = compiler.book.pool;
  }

  /** Returns the strings that match a schema with its references and choices. */
  Regex of(SchemaPart part) {
    JsonNode schema = part.schema();
    if (schema.isBoolean()) {
      return schema.booleanValue() ? pool.anyText : pool.empty;
    }
    compiler.prepare(part);
    if (++depth > MAX_DEPTH) {
      throw SchemaKeywords.refused("propertyNames", part.place(), "nests too deep");
    }
    Regex value = own(part);
    if (part.has("$ref")) {
      value = pool.and(value, of(compiler.resolve(part)));
    }
    if (part.has("allOf")) {
      for (Regex each : all(part, "allOf")) {
        value = pool.and(value, each);
      }
    }
    if (part.has("anyOf")) {
      value = pool.and(value, pool.or(all(part, "anyOf")));
    }
    if (part.has("oneOf")) {
      value = pool.and(value, one(all(part, "oneOf")));
    }
    if (part.has("not")) {
      value = pool.and(value, pool.not(of(part.child("not"))));
    }
    if (part.has("if")) {
      Regex condition = of(part.child("if"));
      Regex then = part.has("then") ? of(part.child("then")) : pool.anyText;
      Regex other = part.has("else") ? of(part.child("else")) : pool.anyText;
      value =
          pool.and(value, pool.or(pool.and(condition, then), pool.and(pool.not(condition), other)));
    }
    depth--;
    return value;
  }

  private List<Regex> all(SchemaPart part, String keyword) {
    List<Regex> all = new ArrayList<>();
    for (int i = 0; i < part.schema().get(keyword).size(); i++) {
      all.add(of(part.child(keyword, i)));
    }
    return all;
  }

  private Regex one(List<Regex> all) {
    List<Regex> ways = new ArrayList<>();
    for (Regex each : all) {
      Regex way = each;
      for (Regex other : all) {
        way = other == each ? way : pool.and(way, pool.not(other));
      }
      ways.add(way);
    }
    return pool.or(ways);
  }

  /** Returns the strings that match a schema without its references and choices. */
  private Regex own(SchemaPart part) {
    JsonNode schema = part.schema();
    boolean string =
        !part.has("type") || ValueRules.types(schema.get("type")).contains(ValueRules.Type.STRING);
    if (!string) {
      return pool.empty;
    }
    Regex value = pool.and(content(part), length(pool, List.of(part)));
    List<Regex> listed = new ArrayList<>();
    if (part.has("const")) {
      listed.add(texts(List.of(schema.get("const"))));
    }
    if (part.has("enum")) {
      listed.add(texts(schema.get("enum")));
    }
    for (Regex each : listed) {
      value = pool.and(value, each);
    }
    return value;
  }

  private Regex texts(Iterable<JsonNode> values) {
    List<String> texts = new ArrayList<>();
    for (JsonNode value : values) {
      if (value.isTextual()) {
        texts.add(value.textValue());
      }
    }
    return pool.texts(texts);
  }

  /** Returns the texts that the string keywords allow, without the keywords for length. */
  Regex content(SchemaPart part) {
    Regex value = pool.anyText;
    if (part.has("pattern")) {
      value = pool.and(value, ValueRules.pattern(pool, part, "pattern"));
    }
    if (part.has("format")) {
      value = pool.and(value, ValueRules.format(pool, part, "format"));
    }
    if (part.has(Negation.NOT_PATTERN)) {
      value = pool.and(value, pool.not(ValueRules.pattern(pool, part, Negation.NOT_PATTERN)));
    }
    if (part.has(Negation.NOT_FORMAT)) {
      value = pool.and(value, pool.not(ValueRules.format(pool, part, Negation.NOT_FORMAT)));
    }
    if (part.has(Negation.NOT_ENUM)) {
      value = pool.and(value, pool.not(texts(part.schema().get(Negation.NOT_ENUM))));
    }
    return value;
  }

  /** Returns the texts of a length that all given schemas allow. */
  static Regex length(RegexPool pool, List<SchemaPart> schemas) {
    int min = 0;
    int max = Regex.MANY;
    for (SchemaPart part : schemas) {
      min = Math.max(min, SchemaKeywords.least(part, "minLength"));
      max = Math.min(max, SchemaKeywords.most(part, "maxLength"));
    }
    return min > max ? pool.empty : pool.repeat(pool.chars(CodePoints.ALL), min, max);
  }
}
