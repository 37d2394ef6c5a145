package io.radixflow.kernels.grammar.schema;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.grammar.regex.Limits;
import io.radixflow.kernels.grammar.regex.RegexPool;
import io.radixflow.kernels.grammar.rule.Rule;
import io.radixflow.kernels.grammar.rule.RuleBook;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
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
 * Compiles a JSON Schema. A schema becomes a rule for each set of schemas that one value has to
 * meet at once; references, {@code allOf} and each choice of {@code anyOf} are merged into such
 * sets.
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

  /** Rules of what two branches of a {@code oneOf} have in common, which must be nothing. */
  private final Map<Integer, String> overlaps = new HashMap<>();

  private final Exclusion exclusion = new Exclusion(this);
  private int visits;
  private int properties;

  /** A rule whose body is not compiled yet. */
  private record Open(int rule, List<SchemaPart> parts, Map<JsonNode, Integer> choices) {}

  private SchemaCompiler(RuleBook book, JsonNode root, Whitespace whitespace) {
    this.book = book;
    this.root = root;
    text = new JsonText(book.pool, whitespace);
  }

  public static RuleBook compile(String schema, Whitespace whitespace) {
    RuleBook book = new RuleBook(new RegexPool());
    compile(book, schema, whitespace);
    return book;
  }

  /** Adds the rules of a schema to those of a grammar, and returns the one for the whole value. */
  public static Rule compile(RuleBook book, String schema, Whitespace whitespace) {
    JsonNode root;
    try {
      root = JSON.readValue(schema);
    } catch (JsonProcessingException e) {
      throw new GrammarException(
          "schema", "", "the schema is not valid JSON: " + e.getOriginalMessage());
    }
    SchemaCompiler compiler = new SchemaCompiler(book, root, whitespace);
    return compiler.compile();
  }

  private Rule compile() {
    Rule whole = rule(List.of(new SchemaPart(root, "#")));
    while (!open.isEmpty()) {
      Open next = open.pop();
      book.define(next.rule, body(next.parts, next.choices));
    }
    if (!overlaps.isEmpty()) {
      checkOverlaps();
    }
    return whole;
  }

  /** The rule for values that meet all of some schemas; its body is compiled later. */
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

  /** Branches that exclude one another have nothing in common. */
  private void checkOverlaps() {
    book.pool.seal();
    BitSet rules = new BitSet();
    overlaps.keySet().forEach(rules::set);
    int overlap = book.productiveOf(rules);
    if (overlap >= 0) {
      throw SchemaKeywords.refused(
          "oneOf",
          overlaps.get(overlap),
          "is only supported where its branches exclude one another");
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

  /** Adds a rule for each pair of branches that has what is valid for both. */
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
    if (++visits > MAX_VISITS) {
      throw GrammarException.tooLarge("its schemas combine in too many ways");
    }
  }

  /** Collects the schemas that a value has to meet at once, in the order of their keywords. */
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
      if (schema.isBoolean()) {
        impossible |= !schema.booleanValue();
        return;
      }
      if (!schema.isObject()) {
        throw SchemaKeywords.refused("schema", part.place(), "is neither an object nor a boolean");
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
      if (checked.add(schema)) {
        SchemaKeywords.check(part);
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
          case "anyOf", "oneOf" -> choose(part, keyword, depth);
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

  /** The schema that a reference names; only those within the document are followed. */
  SchemaPart resolve(SchemaPart part) {
    String reference = part.schema().get("$ref").textValue();
    if (!reference.startsWith("#")) {
      throw SchemaKeywords.refused("$ref", part.place(), "to another document is not supported");
    }
    String pointer;
    try {
      pointer =
          URLDecoder.decode(reference.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw SchemaKeywords.refused("$ref", part.place(), "is malformed");
    }
    if (!pointer.isEmpty() && !pointer.startsWith("/")) {
      throw SchemaKeywords.refused("$ref", part.place(), "to an anchor is not supported");
    }
    JsonNode target = root.at(pointer);
    if (target.isMissingNode()) {
      throw SchemaKeywords.refused("$ref", part.place(), "names a schema that does not exist");
    }
    return new SchemaPart(target, "#" + pointer);
  }
}
