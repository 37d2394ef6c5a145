package io.radixflow.kernels.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.grammar.regex.Regex;
import io.radixflow.kernels.grammar.rule.Rule;
import io.radixflow.kernels.grammar.rule.RuleBook;
import java.util.ArrayList;
import java.util.List;

/** The arrays that meet all of some schemas. */
final class ArrayRules {
  private final SchemaCompiler compiler;
  private final List<SchemaPart> schemas;
  private final RuleBook book;

  ArrayRules(SchemaCompiler compiler, List<SchemaPart> schemas) {
    this.compiler = compiler;
    this.schemas = schemas;
    book = compiler.book;
  }

  Rule rule() {
    int min = 0;
    int max = Regex.MANY;
    int listed = 0;
    for (SchemaPart part : schemas) {
      min = Math.max(min, SchemaKeywords.least(part, "minItems"));
      max = Math.min(max, SchemaKeywords.most(part, "maxItems"));
      listed = Math.max(listed, prefix(part).size());
    }
    if (min > max) {
      return new Rule.Alt(List.of());
    }
    Rule rest = rest(listed, min, max);
    for (int i = Math.min(listed, max) - 1; i >= 0; i--) {
      Rule item = compiler.rule(itemSchemas(i));
      Rule comma = i == 0 ? Rule.NOTHING : book.lexeme(compiler.text.comma);
      Rule more = Rule.seq(comma, item, i + 1 < max ? rest : Rule.NOTHING);
      rest = book.add(i >= min ? Rule.optional(more) : more);
    }
    return Rule.seq(
        book.lexeme(compiler.text.openArray), rest, book.lexeme(compiler.text.closeArray));
  }

  /** Items after those that are listed. */
  private Rule rest(int listed, int min, int max) {
    if (listed >= max) {
      return Rule.NOTHING;
    }
    Rule item = compiler.rule(itemSchemas(listed));
    Rule next = Rule.seq(book.lexeme(compiler.text.comma), item);
    if (listed > 0) {
      int most = max == Regex.MANY ? max : max - listed;
      return new Rule.Count(next, Math.max(min - listed, 0), most);
    }
    int most = max == Regex.MANY ? max : max - 1;
    Rule all = Rule.seq(item, new Rule.Count(next, Math.max(min - 1, 0), most));
    return min == 0 ? Rule.optional(all) : all;
  }

  private List<SchemaPart> itemSchemas(int index) {
    List<SchemaPart> all = new ArrayList<>();
    for (SchemaPart part : schemas) {
      SchemaPart item = item(part, index);
      if (item != null) {
        all.add(item);
      }
    }
    return all;
  }

  /** The schema that one schema has for an item, or null. */
  static SchemaPart item(SchemaPart part, int index) {
    if (index < prefix(part).size()) {
      return part.child(part.has("prefixItems") ? "prefixItems" : "items", index);
    }
    JsonNode items = part.schema().get("items");
    if (items != null && !items.isArray()) {
      return part.child("items");
    }
    return items != null && part.has("additionalItems") ? part.child("additionalItems") : null;
  }

  /** The schemas of the first items, also as older drafts have them. */
  private static List<JsonNode> prefix(SchemaPart part) {
    JsonNode listed = part.schema().get("prefixItems");
    JsonNode items = part.schema().get("items");
    List<JsonNode> all = new ArrayList<>();
    if (listed != null) {
      listed.forEach(all::add);
    } else if (items != null && items.isArray()) {
      items.forEach(all::add);
    }
    return all;
  }
}
