package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexCompiler;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes rules for the values that match all given schemas. The schemas no longer have references or
 * choices.
 */
final class ValueRules {
  /** Disjoint types of values; a fraction is a number that is not an integer. */
  enum Type {
    NULL,
    BOOLEAN,
    INTEGER,
    FRACTION,
    STRING,
    ARRAY,
    OBJECT
  }

  private final SchemaCompiler compiler;
  private final List<SchemaPart> schemas;
  private final RuleBook book;
  private final RegexPool pool;

  ValueRules(SchemaCompiler compiler, List<SchemaPart> schemas) {
    this.compiler = compiler;
    this.schemas = schemas;
    book = compiler.book;
    pool = book.pool;
  }

  Rule rule() {
    for (SchemaPart part : schemas) {
      if (part.has("enum") || part.has("const")) {
        return listed(part);
      }
    }
    Set<Type> types = EnumSet.allOf(Type.class);
    for (SchemaPart part : schemas) {
      if (part.has("type")) {
        types.retainAll(types(part.schema().get("type")));
      }
    }
    List<JsonNode> excluded = excluded();
    List<Rule> rules = new ArrayList<>();
    if (types.contains(Type.NULL) && excluded.stream().noneMatch(JsonNode::isNull)) {
      rules.add(book.literal("null"));
    }
    if (types.contains(Type.BOOLEAN)) {
      Set<String> values = new TreeSet<>(List.of("true", "false"));
      excluded.stream().filter(JsonNode::isBoolean).forEach(v -> values.remove(v.asText()));
      rules.add(book.lexeme(pool.texts(values)));
    }
    if (types.contains(Type.INTEGER) || types.contains(Type.FRACTION)) {
      rules.add(book.lexeme(numbers(types, excluded)));
    }
    if (types.contains(Type.STRING)) {
      rules.add(book.lexeme(compiler.text.string(string())));
    }
    if (types.contains(Type.ARRAY)) {
      rules.add(new ArrayRules(compiler, schemas).rule());
    }
    if (types.contains(Type.OBJECT)) {
      rules.add(new ObjectRules(compiler, schemas).rule());
    }
    return rules.size() == 1 ? rules.get(0) : new Rule.Alt(rules);
  }

  /** Returns the values that the schemas exclude one by one. */
  private List<JsonNode> excluded() {
    List<JsonNode> excluded = new ArrayList<>();
    for (SchemaPart part : schemas) {
      if (part.has(Negation.NOT_ENUM)) {
        part.schema().get(Negation.NOT_ENUM).forEach(excluded::add);
      }
    }
    if (excluded.stream().anyMatch(JsonNode::isContainerNode)) {
      throw SchemaKeywords.refused(
          "not", schemas.get(0).place(), "is not supported with arrays and objects as values");
    }
    return excluded;
  }

  static Set<Type> types(JsonNode keyword) {
    Set<Type> types = EnumSet.noneOf(Type.class);
    for (JsonNode name : keyword.isArray() ? keyword : List.of(keyword)) {
      switch (name.textValue()) {
        case "null" -> types.add(Type.NULL);
        case "boolean" -> types.add(Type.BOOLEAN);
        case "integer" -> types.add(Type.INTEGER);
        case "number" -> {
          types.add(Type.INTEGER);
          types.add(Type.FRACTION);
        }
        case Negation.FRACTION -> types.add(Type.FRACTION);
        case "string" -> types.add(Type.STRING);
        case "array" -> types.add(Type.ARRAY);
        default -> types.add(Type.OBJECT);
      }
    }
    return types;
  }

  /** Returns the values that the schemas list, without the values that another keyword excludes. */
  private Rule listed(SchemaPart from) {
    InstanceCheck check = new InstanceCheck(compiler);
    Iterable<JsonNode> values =
        from.has("const") ? List.of(from.schema().get("const")) : from.schema().get("enum");
    TreeSet<String> strings = new TreeSet<>();
    List<Regex> others = new ArrayList<>();
    for (JsonNode value : values) {
      if (!schemas.stream().allMatch(part -> meets(check, value, part, from))) {
        continue;
      }
      if (value.isTextual()) {
        strings.add(value.textValue());
      } else {
        others.add(compiler.text.literal(value));
      }
    }
    others.add(strings.isEmpty() ? pool.empty : compiler.text.strings(strings));
    return book.lexeme(pool.or(others));
  }

  private static boolean meets(
      InstanceCheck check, JsonNode value, SchemaPart part, SchemaPart from) {
    // A value from this schema's list meets the list. If a schema has enum and const, the list is
    // the const.
    boolean known = part == from && !(part.has("enum") && part.has("const"));
    return known ? check.meetsUnlisted(value, part) : check.meets(value, part);
  }

  /** Returns the numbers; if some numbers are excluded, without an exponent. */
  private Regex numbers(Set<Type> types, List<JsonNode> excluded) {
    Regex numbers = numbers(!types.contains(Type.FRACTION));
    if (!types.contains(Type.INTEGER)) {
      numbers = pool.and(numbers, whole("-?[0-9]+\\.[0-9]*[1-9][0-9]*"));
    }
    boolean plain = false;
    for (JsonNode value : excluded) {
      if (value.isNumber()) {
        String text = compiler.text.number(value.decimalValue());
        String sign = value.decimalValue().signum() == 0 ? "-?" : "";
        String zeros = text.contains(".") ? "0*" : "(\\.0*)?";
        numbers = pool.and(numbers, pool.not(whole(sign + text.replace(".", "\\.") + zeros)));
        plain = true;
      }
    }
    return plain ? pool.and(numbers, whole("[^eE]*")) : numbers;
  }

  private Regex whole(String regex) {
    return RegexCompiler.whole(pool, regex, "");
  }

  private Regex numbers(boolean integer) {
    NumberRange range = new NumberRange(pool);
    for (SchemaPart part : schemas) {
      JsonNode schema = part.schema();
      if (part.has("minimum")) {
        range.atLeast(schema.get("minimum").decimalValue(), false);
      }
      if (part.has("exclusiveMinimum")) {
        range.atLeast(schema.get("exclusiveMinimum").decimalValue(), true);
      }
      if (part.has("maximum")) {
        range.atMost(schema.get("maximum").decimalValue(), false);
      }
      if (part.has("exclusiveMaximum")) {
        range.atMost(schema.get("exclusiveMaximum").decimalValue(), true);
      }
      if (part.has("multipleOf")) {
        range.multipleOf(schema.get("multipleOf").decimalValue());
      }
    }
    return range.regex(integer);
  }

  private Regex string() {
    StringLanguage language = new StringLanguage(compiler);
    Regex value = pool.anyText;
    for (SchemaPart part : schemas) {
      value = pool.and(value, language.content(part));
    }
    return pool.and(value, StringLanguage.length(pool, schemas));
  }

  /** Returns the language of a keyword's pattern. */
  static Regex pattern(RegexPool pool, SchemaPart part, String keyword) {
    return pattern(pool, part, part.schema().get(keyword).textValue(), "pattern");
  }

  static Regex pattern(RegexPool pool, SchemaPart part, String regex, String keyword) {
    try {
      return RegexCompiler.pattern(pool, regex);
    } catch (GrammarException e) {
      throw SchemaKeywords.refused(keyword, part.place(), "is refused: " + e.getMessage());
    }
  }

  /** Returns the language of an asserted format, which a keyword names. */
  static Regex format(RegexPool pool, SchemaPart part, String keyword) {
    String regex = Formats.regex(part.schema().get(keyword).textValue());
    return regex == null ? pool.anyText : RegexCompiler.whole(pool, regex, "");
  }
}
