package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes rules for the objects that match all given schemas. */
final class ObjectRules {
  private static final int MAX_PATTERNS = 6;
  private static final int MAX_REFERENCES = 8;

  private final SchemaCompiler compiler;
  private final List<SchemaPart> schemas;
  private final RuleBook book;
  private final RegexPool pool;
  private final Set<String> required = new LinkedHashSet<>();

  /** Properties in the order in which they come. */
  private final Set<String> names = new LinkedHashSet<>();

  private final Map<String, Regex> patterns = new LinkedHashMap<>();

  /** The names that properties may have. */
  private Regex allowed;

  private int min;
  private int max = Regex.MANY;

  ObjectRules(SchemaCompiler compiler, List<SchemaPart> schemas) {
    this.compiler = compiler;
    this.schemas = schemas;
    book = compiler.book;
    pool = book.pool;
    allowed = pool.anyText;
    for (SchemaPart part : schemas) {
      collect(part);
    }
    names.addAll(required);
    for (SchemaPart part : schemas) {
      restrict(part);
    }
    compiler.addProperties(names.size());
    if (patterns.size() > MAX_PATTERNS) {
      throw GrammarException.tooLarge(
          "an object has more than " + MAX_PATTERNS + " patternProperties");
    }
  }

  private void collect(SchemaPart part) {
    min = Math.max(min, SchemaKeywords.least(part, "minProperties"));
    max = Math.min(max, SchemaKeywords.most(part, "maxProperties"));
    if (part.has("properties")) {
      part.schema().get("properties").fieldNames().forEachRemaining(names::add);
    }
    if (part.has("required")) {
      part.schema().get("required").forEach(name -> required.add(name.textValue()));
    }
    if (part.has("patternProperties")) {
      part.schema()
          .get("patternProperties")
          .fieldNames()
          .forEachRemaining(
              regex ->
                  patterns.computeIfAbsent(
                      regex, r -> ValueRules.pattern(pool, part, r, "patternProperties")));
    }
  }

  /**
   * Restricts names to {@code propertyNames}; listed names come once, in the order of their list.
   */
  private void restrict(SchemaPart part) {
    if (!part.has("propertyNames")) {
      return;
    }
    SchemaPart of = part.child("propertyNames");
    allowed = pool.and(allowed, new StringLanguage(compiler).of(of));
    for (int i = 0; i < MAX_REFERENCES && of.has("$ref"); i++) {
      of = compiler.resolve(of);
    }
    JsonNode listed = of.schema().get("enum");
    if (listed != null) {
      listed.forEach(
          name -> {
            if (name.isTextual() && pool.derivatives.matches(allowed, name.textValue())) {
              names.add(name.textValue());
            }
          });
    }
  }

  Rule rule() {
    if (min > max || required.size() > max) {
      return new Rule.Alt(List.of());
    }
    Rule body = members();
    return Rule.seq(book.lexeme(compiler.text.open), body, book.lexeme(compiler.text.close));
  }

  /**
   * Builds the rule for the members. After each decision on a named property there is a rule for
   * each number of members so far; counts beyond the bounds share one rule.
   */
  private Rule members() {
    int counts = Math.max(1, max == Regex.MANY ? Math.min(min, names.size()) : names.size());
    if ((long) counts * names.size() > Limits.RULES) {
      throw GrammarException.tooLarge(
          "minProperties or maxProperties is too large for so many properties");
    }
    Rule other = others();
    Rule[] after = new Rule[counts + 1];
    for (int count = 0; count <= counts; count++) {
      after[count] = rest(other, count);
    }
    List<String> ordered = new ArrayList<>(names);
    for (int i = ordered.size() - 1; i >= 0; i--) {
      String name = ordered.get(i);
      Regex key = compiler.text.name(pool.text(name));
      Rule value = compiler.rule(valueSchemas(name));
      Rule[] now = new Rule[counts + 1];
      for (int count = 0; count <= counts; count++) {
        List<Rule> ways = new ArrayList<>();
        if (count < max && (allowed == pool.anyText || pool.derivatives.matches(allowed, name))) {
          Regex begin = count == 0 ? key : pool.concat(compiler.text.comma, key);
          ways.add(Rule.seq(book.lexeme(begin), value, after[Math.min(count + 1, counts)]));
        }
        if (!required.contains(name)) {
          ways.add(after[count]);
        }
        now[count] = book.add(new Rule.Alt(ways));
      }
      after = now;
    }
    return after[0];
  }

  /** Returns the rule for unnamed properties, after a number of named properties. */
  private Rule rest(Rule other, int count) {
    int least = Math.max(min - count, 0);
    int most = max == Regex.MANY ? max : max - count;
    if (most < 0) {
      return new Rule.Alt(List.of());
    }
    Rule next = Rule.seq(book.lexeme(compiler.text.comma), other);
    if (count > 0) {
      return new Rule.Count(next, least, most);
    }
    if (most == 0) {
      return Rule.NOTHING;
    }
    Rule all =
        Rule.seq(
            other,
            new Rule.Count(next, Math.max(least - 1, 0), most == Regex.MANY ? most : most - 1));
    return book.add(least == 0 ? Rule.optional(all) : all);
  }

  /**
   * Returns the rule for an unnamed property, for each set of patterns that its name may match at
   * the same time.
   */
  private Rule others() {
    List<String> regexes = new ArrayList<>(patterns.keySet());
    List<Rule> ways = new ArrayList<>();
    Regex unnamed = pool.not(pool.texts(names));
    for (int set = 0; set < 1 << regexes.size(); set++) {
      Regex key = pool.and(allowed, unnamed);
      List<String> matched = new ArrayList<>();
      for (int i = 0; i < regexes.size(); i++) {
        Regex pattern = patterns.get(regexes.get(i));
        boolean in = (set >> i & 1) != 0;
        key = pool.and(key, in ? pattern : pool.not(pattern));
        if (in) {
          matched.add(regexes.get(i));
        }
      }
      List<SchemaPart> values = new ArrayList<>();
      schemas.forEach(part -> addSchemas(part, null, matched, values));
      boolean excluded =
          values.stream()
              .anyMatch(part -> part.schema().isBoolean() && !part.schema().booleanValue());
      if (!excluded && key != pool.empty) {
        ways.add(Rule.seq(book.lexeme(compiler.text.name(key)), compiler.rule(values)));
      }
    }
    return book.add(new Rule.Alt(ways));
  }

  private List<SchemaPart> valueSchemas(String name) {
    List<SchemaPart> values = new ArrayList<>();
    schemas.forEach(part -> values.addAll(propertySchemas(pool, part, name)));
    return values;
  }

  /** Returns the schemas that one schema applies to the value of a property. */
  static List<SchemaPart> propertySchemas(RegexPool pool, SchemaPart part, String name) {
    List<String> matched = new ArrayList<>();
    JsonNode byPattern = part.schema().get("patternProperties");
    for (var regexes = byPattern == null ? null : byPattern.fieldNames();
        regexes != null && regexes.hasNext(); ) {
      String regex = regexes.next();
      if (pool.derivatives.matches(
          ValueRules.pattern(pool, part, regex, "patternProperties"), name)) {
        matched.add(regex);
      }
    }
    List<SchemaPart> values = new ArrayList<>();
    addSchemas(part, name, matched, values);
    return values;
  }

  /**
   * Adds the schemas that one schema has for a property's value.
   *
   * @param name name of the property; null for a property that no schema names
   * @param matched the patterns that its name matches
   */
  private static void addSchemas(
      SchemaPart part, String name, List<String> matched, List<SchemaPart> values) {
    boolean listed = false;
    JsonNode properties = part.schema().get("properties");
    if (name != null && properties != null && properties.has(name)) {
      values.add(part.child("properties", name));
      listed = true;
    }
    JsonNode byPattern = part.schema().get("patternProperties");
    for (String regex : matched) {
      if (byPattern != null && byPattern.has(regex)) {
        values.add(part.child("patternProperties", regex));
        listed = true;
      }
    }
    if (!listed && part.has("additionalProperties")) {
      values.add(part.child("additionalProperties"));
    }
  }
}
