package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Makes rules for the arrays that match all given schemas. */
final class ArrayRules {
  private static final int MAX_STATES = 2_000;
  private static final int MAX_DISTINCT = 8;

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
    SchemaPart contains = null;
    SchemaPart unique = null;
    for (SchemaPart part : schemas) {
      min = Math.max(min, SchemaKeywords.least(part, "minItems"));
      max = Math.min(max, SchemaKeywords.most(part, "maxItems"));
      listed = Math.max(listed, prefix(part).size());
      contains = part.has("contains") ? once(contains, part, "contains") : contains;
      unique = part.has("uniqueItems") ? part : unique;
    }
    if (min > max) {
      return new Rule.Alt(List.of());
    }
    Rule items = null;
    if (unique != null && max > 1) {
      items = distinct(unique, contains, listed, min, max);
    }
    if (items == null && contains != null) {
      items = containing(contains, listed, min, max);
    }
    if (items == null) {
      items = items(listed, min, max);
    }
    return Rule.seq(
        book.lexeme(compiler.text.openArray), items, book.lexeme(compiler.text.closeArray));
  }

  private static SchemaPart once(SchemaPart known, SchemaPart part, String keyword) {
    if (known != null) {
      throw SchemaKeywords.refused(keyword, part.place(), "is only supported once for a value");
    }
    return part;
  }

  private Rule items(int listed, int min, int max) {
    Rule rest = rest(listed, min, max);
    for (int i = Math.min(listed, max) - 1; i >= 0; i--) {
      Rule item = compiler.rule(itemSchemas(i));
      Rule comma = i == 0 ? Rule.NOTHING : book.lexeme(compiler.text.comma);
      Rule more = Rule.seq(comma, item, i + 1 < max ? rest : Rule.NOTHING);
      rest = book.add(i >= min ? Rule.optional(more) : more);
    }
    return rest;
  }

  /** Returns how many items must match {@code contains}. */
  static int leastContained(SchemaPart part) {
    return part.has("minContains") ? SchemaKeywords.least(part, "minContains") : 1;
  }

  /**
   * Returns the rule for items of which some match another schema. There is a rule for each pair of
   * counts.
   */
  private Rule containing(SchemaPart part, int listed, int min, int max) {
    int least = leastContained(part);
    int counted = Math.max(Math.max(listed, min), max == Regex.MANY ? 1 : max);
    if ((long) (counted + 1) * (least + 1) > MAX_STATES) {
      throw SchemaKeywords.refused("contains", part.place(), "is not supported with so many items");
    }
    int[][] rules = new int[counted + 1][least + 1];
    for (int[] row : rules) {
      for (int i = 0; i < row.length; i++) {
        row[i] = book.reserve();
      }
    }
    for (int at = 0; at <= counted; at++) {
      for (int found = 0; found <= least; found++) {
        List<Rule> ways = new ArrayList<>();
        if (at >= min && found == least) {
          ways.add(Rule.NOTHING);
        }
        if (at < max) {
          Rule comma = at == 0 ? Rule.NOTHING : book.lexeme(compiler.text.comma);
          int next = Math.min(at + 1, counted);
          List<SchemaPart> item = itemSchemas(at);
          ways.add(Rule.seq(comma, compiler.rule(item), new Rule.Ref(rules[next][found])));
          if (found < least) {
            item.add(part.child("contains"));
            ways.add(Rule.seq(comma, compiler.rule(item), new Rule.Ref(rules[next][found + 1])));
          }
        }
        book.define(rules[at][found], new Rule.Alt(ways));
      }
    }
    return new Rule.Ref(rules[0][0]);
  }

  /**
   * Returns the rule for items of a short list of values, each at most once. There is a rule for
   * each set of used values.
   */
  private Rule distinct(SchemaPart unique, SchemaPart contains, int listed, int min, int max) {
    List<JsonNode> values = listed > 0 || contains != null ? null : values();
    if (values == null) {
      compiler.unsupported(
          SchemaKeywords.refused(
              "uniqueItems",
              unique.place(),
              "is only supported where the items are of a list of at most " + MAX_DISTINCT));
      return null;
    }
    int sets = 1 << values.size();
    int[] rules = new int[sets];
    for (int set = 0; set < sets; set++) {
      rules[set] = book.reserve();
    }
    for (int set = 0; set < sets; set++) {
      List<Rule> ways = new ArrayList<>();
      if (Integer.bitCount(set) >= min) {
        ways.add(Rule.NOTHING);
      }
      for (int i = 0; i < values.size() && Integer.bitCount(set) < max; i++) {
        if ((set >> i & 1) == 0) {
          Rule comma = set == 0 ? Rule.NOTHING : book.lexeme(compiler.text.comma);
          Rule value = book.lexeme(compiler.text.literal(values.get(i)));
          ways.add(Rule.seq(comma, value, new Rule.Ref(rules[set | 1 << i])));
        }
      }
      book.define(rules[set], new Rule.Alt(ways));
    }
    return new Rule.Ref(rules[0]);
  }

  /** Returns the values that items can have; null if they are not a short list. */
  private List<JsonNode> values() {
    List<SchemaPart> items = itemSchemas(0);
    for (SchemaPart item : items) {
      SchemaPart at = item;
      for (int i = 0; i < MAX_DISTINCT && at.has("$ref"); i++) {
        at = compiler.resolve(at);
      }
      JsonNode listed = at.has("const") ? at.schema().get("const") : at.schema().get("enum");
      if (listed == null || !at.has("const") && !listed.isArray()) {
        continue;
      }
      Set<JsonNode> values = new LinkedHashSet<>();
      InstanceCheck check = new InstanceCheck(compiler);
      for (JsonNode value : at.has("const") ? List.of(listed) : listed) {
        if (items.stream().allMatch(each -> check.isValid(value, each))) {
          values.add(value);
        }
      }
      return values.size() > MAX_DISTINCT ? null : new ArrayList<>(values);
    }
    return null;
  }

  /** Returns the rule for items after the listed items. */
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

  /** Returns the schema that one schema has for an item, or null. */
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

  /** Returns the schemas of the first items, including the form of older drafts. */
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
