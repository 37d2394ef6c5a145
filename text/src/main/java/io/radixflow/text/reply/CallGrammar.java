package io.radixflow.text.reply;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the grammar of calls in a model's own format. Their arguments must match the schemas of
 * the functions.
 *
 * @param enforceAll whether schemas are enforced even for functions that are not strict
 */
record CallGrammar(GrammarText grammar, List<Tool> tools, boolean parallel, boolean enforceAll) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Types of values that are not strings. */
  private static final Set<String> JSON_TYPES =
      Set.of("array", "boolean", "null", "number", "object");

  /** Keywords that may forbid some strings. */
  private static final List<String> TEXT_KEYWORDS =
      List.of(
          "pattern", "format", "minLength", "maxLength", "allOf", "not", "if", "oneOf", "anyOf");

  private String several(String call, String between) {
    String more = parallel ? " (" + GrammarText.literal(between) + " " + call + ")*" : "";
    return call + more;
  }

  private static String any(List<String> symbols) {
    return "(" + String.join(" | ", symbols) + ")";
  }

  /**
   * Returns the symbols of calls whose arguments are JSON.
   *
   * @param prefix prefix of the names of rules
   * @param start text before the first call
   * @param between text between two calls
   * @param end text after the last call
   * @param before text before a name
   * @param middle text between name and arguments
   * @param after text after the arguments
   */
  String json(
      String prefix,
      String start,
      String between,
      String end,
      String before,
      String middle,
      String after) {
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < tools.size(); i++) {
      Tool tool = tools.get(i);
      String arguments = grammar.rule(prefix + "args_" + i, json(tool, "", schema(tool)));
      String head = GrammarText.literal(before + tool.name() + middle);
      String body = head + " " + arguments + " " + GrammarText.literal(after);
      calls.add(grammar.rule(prefix + "call_" + i, body));
    }
    String all = grammar.rule(prefix + "call", String.join(" | ", calls));
    return GrammarText.literal(start)
        + " "
        + several(all, between)
        + " "
        + GrammarText.literal(end);
  }

  /**
   * Returns the symbol of JSON that matches a schema. Keywords that cannot be enforced are ignored,
   * unless the function is strict.
   *
   * @param pointer position of the schema inside the function's schema
   */
  private static String json(Tool tool, String pointer, String schema) {
    return directive("%json", tool, pointer) + " " + schema;
  }

  private static String json(Tool tool, String key) {
    return json(tool, "/properties/" + key, subschema(tool, key, Set.of()));
  }

  private static String directive(String name, Tool tool, String pointer) {
    String subject = "the function " + tool.name() + (pointer.isEmpty() ? "" : "#" + pointer);
    return name + (tool.strict() ? " " : "? ") + GrammarText.literal(subject);
  }

  /** Returns the schema of a function's arguments, which are always an object. */
  private String schema(Tool tool) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    if (enforced(tool)) {
      schema.putAll(tool.parameters());
      if (tool.parameters().isEmpty()) {
        schema.put("additionalProperties", false);
      }
      schema.put("type", "object");
    }
    return write(schema);
  }

  /**
   * Returns the schema of one parameter, with the definitions that it may refer to.
   *
   * @param types the types that are allowed; empty for all
   */
  private static String subschema(Tool tool, String key, Set<String> types) {
    Object schema = tool.properties().get(key);
    Map<Object, Object> whole = new LinkedHashMap<>();
    if (!types.isEmpty()) {
      whole.put("type", types);
      whole.put("allOf", schema instanceof Map<?, ?> ? List.of(schema) : List.of(true));
    } else if (schema instanceof Map<?, ?> map) {
      whole.putAll(map);
    } else {
      return write(schema);
    }
    for (String definitions : List.of("$defs", "definitions")) {
      if (tool.parameters().containsKey(definitions)) {
        whole.putIfAbsent(definitions, tool.parameters().get(definitions));
      }
    }
    return write(whole);
  }

  private boolean enforced(Tool tool) {
    return enforceAll || tool.strict();
  }

  private static String write(Object schema) {
    try {
      return JSON.writeValueAsString(schema);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "a schema is not valid JSON: " + e.getOriginalMessage(), e);
    }
  }

  // ---- tags ----

  /**
   * Returns the symbols of calls with one tag per parameter.
   *
   * @param shared whether one block contains all calls
   */
  String tags(TagCalls form, boolean shared) {
    grammar.rule("NL", "/\\n?/");
    grammar.rule("TEXT", "/" + GrammarText.without(List.of(form.parameter().close())) + "/");
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < tools.size(); i++) {
      Tool tool = tools.get(i);
      String head = GrammarText.literal(form.call() + tool.name() + form.afterName());
      String end = GrammarText.literal(form.parameter().callEnd());
      calls.add(grammar.rule("call_" + i, head + " NL " + parameters(form, tool, i) + " " + end));
    }
    String open = form.block().isEmpty() ? "" : GrammarText.literal(form.block()) + " NL ";
    String close = form.block().isEmpty() ? "" : " NL " + GrammarText.literal(form.blockEnd());
    if (shared) {
      return open + severalLines(any(calls)) + close;
    }
    return severalLines(grammar.rule("call", open + any(calls) + close));
  }

  private String severalLines(String call) {
    return parallel ? call + " (NL " + call + ")*" : call;
  }

  private String parameters(TagCalls form, Tool tool, int index) {
    if (!enforced(tool)) {
      String name = "/[A-Za-z0-9_.\\-]+/";
      return "(" + parameter(form, name, !form.parameter().string().isEmpty(), "TEXT") + ")*";
    }
    StringBuilder all = new StringBuilder();
    int number = 0;
    for (Map.Entry<String, Object> property : tool.properties().entrySet()) {
      String key = property.getKey();
      String value = textValue(tool, key, "", form.parameter().close());
      boolean text = value != null;
      if (!text) {
        value = grammar.rule("value_" + index + "_" + number++, json(tool, key));
      }
      String one = parameter(form, GrammarText.literal(key), text, value);
      all.append(" (").append(one).append(')').append(tool.isRequired(key) ? "" : "?");
    }
    return all.toString();
  }

  private static String parameter(TagCalls form, String name, boolean text, String value) {
    TagCalls.Parameter tag = form.parameter();
    String before = text && !tag.string().isEmpty() ? tag.string() : tag.value();
    boolean tagged = before.startsWith("<");
    return GrammarText.literal(tag.open())
        + " "
        + name
        + " "
        + GrammarText.literal(tag.afterName() + (tagged ? "" : before))
        + (tagged ? " NL " + GrammarText.literal(before) : "")
        + (tag.lines() ? " \"\\n\" " : " ")
        + value
        + " "
        + GrammarText.literal((tag.lines() ? "\n" : "") + tag.close())
        + " NL";
  }

  /**
   * Returns the symbols of a value that may be a string, which is plain text up to a mark; null if
   * the value is never a string.
   *
   * @param quote the text before a string, which then is also its mark; empty if there is none, so
   *     that any value is text
   * @param end the mark after a value
   */
  private static String textValue(Tool tool, String key, String quote, String end) {
    Set<String> types = tool.types(key);
    Map<?, ?> resolved = tool.resolve(tool.properties().get(key));
    if (!types.isEmpty() && !types.contains("string")) {
      return null;
    }
    String around = quote.isEmpty() ? "" : " " + GrammarText.literal(quote) + " ";
    Object values =
        resolved.containsKey("const") ? List.of(resolved.get("const")) : resolved.get("enum");
    if (values instanceof Collection<?> texts
        && texts.stream().allMatch(String.class::isInstance)) {
      List<String> literals = texts.stream().map(t -> GrammarText.literal((String) t)).toList();
      return around + any(literals) + around;
    }
    boolean all =
        values == null && TEXT_KEYWORDS.stream().noneMatch(k -> narrows(tool, resolved, k));
    if (all && quote.isEmpty()) {
      return "TEXT";
    }
    String pointer = "/properties/" + key;
    String mark = " " + GrammarText.literal(end) + " ";
    String text =
        all ? "TEXT" : directive("%text", tool, pointer) + mark + subschema(tool, key, Set.of());
    Set<String> others = new LinkedHashSet<>(types.isEmpty() ? JSON_TYPES : types);
    others.remove("string");
    String string = around + text + around;
    return others.isEmpty()
        ? string
        : "(" + string + " | " + json(tool, pointer, subschema(tool, key, others)) + ")";
  }

  /** Returns whether a keyword allows fewer strings than all. */
  private static boolean narrows(Tool tool, Map<?, ?> schema, String keyword) {
    boolean union = keyword.equals("anyOf") || keyword.equals("oneOf");
    return schema.containsKey(keyword) && !(union && tool.isPlainUnion(schema.get(keyword)));
  }

  // ---- literals ----

  /** Returns the symbols of calls in the literals of a programming language. */
  String literals(LiteralCalls form, String start, String between, String end) {
    boolean gemma = form.dialect().bareWords();
    if (gemma) {
      grammar.rule("TEXT", "/" + GrammarText.without(List.of(form.dialect().quote())) + "/");
    }
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < tools.size(); i++) {
      Tool tool = tools.get(i);
      String head = GrammarText.literal(form.before() + tool.name() + form.dialect().open());
      String close = GrammarText.literal(String.valueOf(form.dialect().close()));
      calls.add(grammar.rule("call_" + i, head + " " + named(form, tool, i) + " " + close));
    }
    String call = grammar.rule("call", String.join(" | ", calls));
    return GrammarText.literal(start)
        + " "
        + several(call, between)
        + " "
        + GrammarText.literal(end);
  }

  /** Returns the symbols of named arguments, with commas between the arguments that are present. */
  private String named(LiteralCalls form, Tool tool, int index) {
    boolean gemma = form.dialect().bareWords();
    String comma = gemma ? "\",\"" : "\", \"";
    String first = "";
    String further = "";
    List<String> keys = new ArrayList<>(tool.properties().keySet());
    for (int i = keys.size() - 1; i >= 0; i--) {
      String key = keys.get(i);
      String value = literal(form, tool, key);
      String one =
          GrammarText.literal(key + form.dialect().assign())
              + " "
              + grammar.rule("value_" + index + "_" + i, value);
      boolean required = tool.isRequired(key);
      String rest = "(" + comma + " " + one + ")" + (required ? "" : "?");
      String begins = one + " " + further;
      first =
          required
              ? begins
              : first.isEmpty() ? "(" + begins + ")?" : "(" + begins + " | " + first + ")";
      further = grammar.rule("rest_" + index + "_" + i, rest + " " + further);
    }
    return first;
  }

  /** Returns the symbols of a value in the literals of a programming language. */
  private String literal(LiteralCalls form, Tool tool, String key) {
    String quote = form.dialect().bareWords() ? form.dialect().quote() : "";
    if (enforced(tool)) {
      String value = quote.isEmpty() ? null : textValue(tool, key, quote, quote);
      return value == null ? json(tool, key) : value;
    }
    Set<String> types = tool.types(key);
    boolean text = !quote.isEmpty() && (types.isEmpty() || types.contains("string"));
    String mark = GrammarText.literal(quote);
    return text ? mark + " TEXT " + mark : "%json {}";
  }
}
