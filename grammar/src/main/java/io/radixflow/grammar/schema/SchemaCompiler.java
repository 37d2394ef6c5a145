package io.radixflow.grammar.schema;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import io.radixflow.grammar.rule.SchemaSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compiles a JSON Schema. There is a rule for each set of schemas that one value must match
 * together. References, {@code allOf} and each choice of {@code anyOf} are merged into such sets.
 */
public final class SchemaCompiler {
  private static final int MAX_NUMBER = 400;
  private static final int MAX_VISITS = 20_000;
  private static final int MAX_MERGED = 100;

  private static final ObjectReader JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(Limits.JSON_DEPTH)
                          .maxNumberLength(MAX_NUMBER)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
          .build()
          .readerFor(JsonNode.class);

  final RuleBook book;
  final JsonText text;
  private final JsonNode root;
  private final Map<List<Integer>, Rule.Ref> rules = new HashMap<>();
  private final Map<JsonNode, Integer> ids = new IdentityHashMap<>();
  private final Set<JsonNode> checked = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Deque<Open> open = new ArrayDeque<>();

  /**
   * Rules for the common values of two branches of a {@code oneOf}; there must be no such values.
   */
  private final Map<Integer, String> overlaps = new HashMap<>();

  /** Derived schemas by their origin: a schema and one of its keywords. */
  private final Map<JsonNode, Map<String, JsonNode>> derived = new IdentityHashMap<>();

  private final SchemaSource source;
  private final SchemaFindings findings;
  private final References references;
  private final Exclusion exclusion = new Exclusion(this);
  private int visits;
  private int properties;

  /** A rule whose body is not compiled yet. */
  private record Open(int rule, List<SchemaPart> parts, Map<JsonNode, Integer> choices) {}

  private SchemaCompiler(
      RuleBook book,
      JsonNode root,
      Whitespace whitespace,
      SchemaSource source,
      SchemaFindings findings) {
    this.book = book;
    this.root = root;
    this.source = source;
    this.findings = findings;
    text = new JsonText(book.pool, whitespace);
    references = new References(root, source);
  }

  /**
   * Adds the rules of a schema to a grammar. Returns the rule for the whole value.
   *
   * @throws GrammarException if the schema is malformed, or not supported and not loose
   * @throws SchemaFindings.Retry if another try is needed
   */
  public static Rule compile(
      RuleBook book, SchemaSource source, Whitespace whitespace, SchemaFindings findings) {
    try {
      boolean json = source.end().isEmpty();
      String free = json ? "{\"type\":\"object\"}" : "{}";
      JsonNode root = JSON.readValue(findings.isFree(source) ? free : source.text());
      SchemaCompiler compiler = new SchemaCompiler(book, root, whitespace, source, findings);
      return json ? compiler.compile() : compiler.plainText();
    } catch (JsonProcessingException e) {
      throw new GrammarException(
              "schema", "", "the schema is not valid JSON: " + e.getOriginalMessage())
          .of(source.subject());
    } catch (GrammarException e) {
      throw e.of(source.subject());
    }
  }

  private Rule compile() {
    Rule whole = rule(List.of(new SchemaPart(root, "#" + source.base())));
    while (!open.isEmpty()) {
      Open next = open.pop();
      book.define(next.rule, body(next.parts, next.choices));
    }
    if (!overlaps.isEmpty()) {
      checkOverlaps();
    }
    return whole;
  }

  /** The strings that meet the schema, without quotes and escapes, up to the mark. */
  private Rule plainText() {
    RegexPool pool = book.pool;
    Regex value = new StringLanguage(this).of(new SchemaPart(root, "#" + source.base()));
    Regex mark = pool.concat(pool.anyText, pool.concat(pool.text(source.end()), pool.anyText));
    return new Rule.Lexeme(pool.and(value, pool.not(mark)), false);
  }

  /** Modernizes and checks a schema before its keywords are read. */
  void prepare(SchemaPart part) {
    if (!(part.schema() instanceof ObjectNode schema)) {
      if (!part.schema().isBoolean()) {
        throw SchemaKeywords.refused("schema", part.place(), "is neither an object nor a boolean");
      }
      return;
    }
    if (!checked.add(schema)) {
      return;
    }
    SchemaKeywords.modernize(schema);
    SchemaKeywords.check(part, source.loose() ? this::unsupported : null);
    if (schema.has("oneOf") && schema.has("discriminator")) {
      discriminate(part, schema);
    }
    if (source.loose()) {
      loosen(part, schema);
    }
  }

  /** Leaves out an unsupported keyword if the schema is loose, and refuses the schema otherwise. */
  void unsupported(GrammarException e) {
    if (!source.loose()) {
      throw e;
    }
    findings.leaveOut(source, e.getMessage());
  }

  /** Leaves out keywords of a loose schema with unsupported values. */
  private void loosen(SchemaPart part, ObjectNode schema) {
    attempt(schema, "$ref", () -> resolve(part));
    attempt(schema, "pattern", () -> ValueRules.pattern(book.pool, part, "pattern"));
    attempt(schema, "not", () -> derived(part, "not"));
    attempt(schema, "if", () -> derived(part, "if"));
    attempt(
        schema, "propertyNames", () -> new StringLanguage(this).of(part.child("propertyNames")));
    attempt(
        schema,
        "patternProperties",
        () ->
            schema
                .get("patternProperties")
                .fieldNames()
                .forEachRemaining(
                    regex -> ValueRules.pattern(book.pool, part, regex, "patternProperties")));
  }

  private void attempt(ObjectNode schema, String keyword, Runnable reading) {
    if (!schema.has(keyword)) {
      return;
    }
    try {
      reading.run();
    } catch (GrammarException e) {
      unsupported(e);
      schema.remove(keyword);
    }
  }

  /**
   * Makes the branches of a {@code oneOf} require OpenAPI's discriminator property, with the values
   * that name each branch.
   */
  private void discriminate(SchemaPart part, ObjectNode schema) {
    JsonNode discriminator = schema.get("discriminator");
    String property = discriminator.path("propertyName").textValue();
    if (property == null) {
      return;
    }
    ArrayNode branches = JsonNodeFactory.instance.arrayNode();
    for (JsonNode branch : schema.get("oneOf")) {
      ObjectNode told = branches.addObject();
      told.putArray("allOf").add(branch);
      told.putArray("required").add(property);
      ArrayNode names = JsonNodeFactory.instance.arrayNode();
      discriminator
          .path("mapping")
          .fields()
          .forEachRemaining(
              name -> {
                if (branch.has("$ref") && branch.get("$ref").equals(name.getValue())) {
                  names.add(name.getKey());
                }
              });
      if (!names.isEmpty()) {
        told.putObject("properties").putObject(property).set("enum", names);
      }
    }
    schema.set("oneOf", branches);
  }

  /** Returns a schema that expresses one keyword of a schema with other keywords. */
  SchemaPart derived(SchemaPart part, String keyword) {
    Map<String, JsonNode> known = derived.computeIfAbsent(part.schema(), schema -> new HashMap<>());
    JsonNode schema = known.get(keyword);
    if (schema == null) {
      schema = derive(part, keyword);
      known.put(keyword, schema);
    }
    return new SchemaPart(schema, part.place() + "/" + keyword);
  }

  private JsonNode derive(SchemaPart part, String keyword) {
    switch (keyword) {
      case "not":
        return new Negation(this).of(part.child("not"), "not");
      case "if":
        JsonNode then = part.has("then") ? part.schema().get("then") : BooleanNode.TRUE;
        JsonNode other = part.has("else") ? part.schema().get("else") : BooleanNode.TRUE;
        ObjectNode condition = JsonNodeFactory.instance.objectNode();
        ArrayNode ways = condition.putArray("anyOf");
        ways.addObject().putArray("allOf").add(part.schema().get("if")).add(then);
        JsonNode unmet = new Negation(this).of(part.child("if"), "if");
        ways.addObject().putArray("allOf").add(unmet).add(other);
        return condition;
      case "oneOf":
        return exclusive(part);
      default:
        ObjectNode all = JsonNodeFactory.instance.objectNode();
        ArrayNode each = all.putArray("allOf");
        part.schema()
            .get(keyword)
            .fieldNames()
            .forEachRemaining(
                name -> {
                  ArrayNode choices = each.addObject().putArray("anyOf");
                  choices.addObject().putObject("properties").put(name, false);
                  ObjectNode there = choices.addObject();
                  there.putArray("required").add(name);
                  there.putArray("allOf").add(dependent(part, keyword, name).schema());
                });
        return all;
    }
  }

  /** Returns the schema that applies to an object with a property. */
  SchemaPart dependent(SchemaPart part, String keyword, String name) {
    SchemaPart child = part.child(keyword, name);
    return keyword.equals("dependentSchemas")
        ? child
        : new SchemaPart(
            JsonNodeFactory.instance.objectNode().set("required", child.schema()), child.place());
  }

  /** Returns overlapping branches, each without the values that it shares with another branch. */
  private JsonNode exclusive(SchemaPart part) {
    JsonNode branches = part.schema().get("oneOf");
    ObjectNode any = JsonNodeFactory.instance.objectNode();
    ArrayNode ways = any.putArray("anyOf");
    for (int i = 0; i < branches.size(); i++) {
      ArrayNode way = ways.addObject().putArray("allOf").add(branches.get(i));
      for (int j = 0; j < branches.size(); j++) {
        SchemaPart other = part.child("oneOf", j);
        if (j != i && !exclusion.isBetween(part.child("oneOf", i), other)) {
          way.add(new Negation(this).of(other, "oneOf"));
        }
      }
    }
    return any;
  }

  /** Returns the branches of a {@code oneOf} that is known to overlap, as a choice. */
  private SchemaPart separated(SchemaPart part) {
    try {
      return derived(part, "oneOf");
    } catch (GrammarException e) {
      unsupported(
          SchemaKeywords.refused(
              "oneOf",
              part.place(),
              "is only supported where its branches exclude one another: " + e.getMessage()));
      return new SchemaPart(
          JsonNodeFactory.instance.objectNode().set("anyOf", part.schema().get("oneOf")),
          part.place());
    }
  }

  /** Returns the rule for values that match all given schemas; its body is compiled later. */
  Rule.Ref rule(List<SchemaPart> parts) {
    List<Integer> key = new ArrayList<>();
    List<SchemaPart> distinct = new ArrayList<>();
    for (SchemaPart part : parts) {
      boolean any = part.schema().isBoolean() && part.schema().booleanValue();
      int id = ids.computeIfAbsent(part.schema(), s -> ids.size());
      if (!any && !key.contains(id)) {
        key.add(id);
        distinct.add(part);
      }
    }
    return rules.computeIfAbsent(
        key,
        k -> {
          int rule = book.reserve();
          open.add(new Open(rule, distinct, new IdentityHashMap<>()));
          return new Rule.Ref(rule);
        });
  }

  /** Checks that no value matches two branches of a {@code oneOf}. */
  private void checkOverlaps() {
    book.pool.seal();
    BitSet rules = new BitSet();
    overlaps.keySet().forEach(rules::set);
    if (book.productiveOf(rules) >= 0) {
      rules.and(book.productive());
      boolean found = false;
      for (int rule = rules.nextSetBit(0); rule >= 0; rule = rules.nextSetBit(rule + 1)) {
        found |= findings.overlap(source, overlaps.get(rule));
      }
      if (!found) {
        throw SchemaKeywords.refused("oneOf", "", "has branches that do not exclude one another");
      }
      throw new SchemaFindings.Retry();
    }
    book.pool.reopen();
  }

  private Rule body(List<SchemaPart> parts, Map<JsonNode, Integer> choices) {
    Merge merge = new Merge(choices);
    parts.forEach(part -> merge.add(part, 0));
    if (merge.impossible) {
      return new Rule.Alt(List.of());
    }
    if (merge.undecided == null) {
      return new ValueRules(this, merge.schemas).rule();
    }
    String keyword = merge.undecidedKeyword;
    JsonNode branches = merge.undecided.schema().get(keyword);
    if (keyword.equals("oneOf")) {
      exclude(merge.undecided, parts, choices);
    }
    List<Rule> rules = new ArrayList<>();
    for (int i = 0; i < branches.size(); i++) {
      Map<JsonNode, Integer> more = new IdentityHashMap<>(choices);
      more.put(branches, i);
      rules.add(body(parts, more));
    }
    return new Rule.Alt(rules);
  }

  /** For each pair of branches, adds a rule for the values that are valid for both. */
  private void exclude(SchemaPart part, List<SchemaPart> parts, Map<JsonNode, Integer> choices) {
    JsonNode branches = part.schema().get("oneOf");
    for (int i = 0; i < branches.size(); i++) {
      Map<JsonNode, Integer> more = new IdentityHashMap<>(choices);
      more.put(branches, i);
      for (int j = i + 1; j < branches.size(); j++) {
        visit();
        if (exclusion.isBetween(part.child("oneOf", i), part.child("oneOf", j))) {
          continue;
        }
        List<SchemaPart> both = new ArrayList<>(parts);
        both.add(part.child("oneOf", j));
        int rule = book.reserve();
        open.add(new Open(rule, both, more));
        overlaps.put(rule, part.place());
      }
    }
  }

  /** Counts the named properties of an object whose rule is made. */
  void addProperties(int count) {
    properties += count;
    if (properties > Limits.PROPERTIES) {
      throw GrammarException.tooLarge(
          "its objects name more than " + Limits.PROPERTIES + " properties");
    }
  }

  private void visit() {
    book.pool.spend(1);
    if (++visits > MAX_VISITS) {
      throw GrammarException.tooLarge("its schemas combine in too many ways");
    }
  }

  /** Collects the schemas that a value must match together, in the order of their keywords. */
  private final class Merge {
    final Map<JsonNode, Integer> choices;
    final List<SchemaPart> schemas = new ArrayList<>();
    final Set<JsonNode> path = Collections.newSetFromMap(new IdentityHashMap<>());
    final Set<JsonNode> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    boolean impossible;
    SchemaPart undecided;
    String undecidedKeyword;

    Merge(Map<JsonNode, Integer> choices) {
      this.choices = choices;
    }

    void add(SchemaPart part, int depth) {
      visit();
      JsonNode schema = part.schema();
      prepare(part);
      if (schema.isBoolean()) {
        impossible |= !schema.booleanValue();
        return;
      }
      if (path.contains(schema)) {
        throw SchemaKeywords.refused("$ref", part.place(), "leads back to itself");
      }
      if (depth > MAX_MERGED) {
        throw GrammarException.tooLarge(
            "more than " + MAX_MERGED + " references and choices are nested");
      }
      if (!seen.add(schema)) {
        return;
      }
      path.add(schema);
      boolean listed = false;
      for (var names = schema.fieldNames(); names.hasNext(); ) {
        String keyword = names.next();
        switch (keyword) {
          case "$ref" -> add(resolve(part), depth + 1);
          case "allOf" -> {
            for (int i = 0; i < schema.get(keyword).size(); i++) {
              add(part.child(keyword, i), depth + 1);
            }
          }
          case "not", "if", "dependentRequired", "dependentSchemas" ->
              add(derived(part, keyword), depth + 1);
          case "anyOf", "oneOf" -> {
            boolean overlap = keyword.equals("oneOf") && findings.overlaps(source, part.place());
            if (overlap) {
              add(separated(part), depth + 1);
            } else {
              choose(part, keyword, depth);
            }
          }
          default -> {
            // Properties come in the order of their keywords.
            boolean here = !schema.has("properties") || keyword.equals("properties");
            if (!listed && here && !keyword.equals("$defs")) {
              schemas.add(part);
              listed = true;
            }
          }
        }
      }
      path.remove(schema);
    }

    private void choose(SchemaPart part, String keyword, int depth) {
      Integer choice = choices.get(part.schema().get(keyword));
      if (choice != null) {
        add(part.child(keyword, choice), depth + 1);
      } else if (undecided == null) {
        undecided = part;
        undecidedKeyword = keyword;
      }
    }
  }

  /** Returns the schema that a reference names. */
  SchemaPart resolve(SchemaPart part) {
    return references.resolve(part);
  }
}
