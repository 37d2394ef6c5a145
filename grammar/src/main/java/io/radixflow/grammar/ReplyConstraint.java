package io.radixflow.grammar;

import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.text.reply.StructuralTag;
import io.radixflow.text.reply.Tool;
import io.radixflow.text.template.JsonValues;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The constraints on a reply's form.
 *
 * @param option the main option of the constraint, for errors; empty for none
 * @param content the grammar of the content; null for free text
 * @param callable the functions that the reply may call; empty for none
 * @param required whether the reply must consist of calls
 * @param calls whether a grammar constrains the form of calls
 * @param parallel whether the reply may have several calls
 */
public record ReplyConstraint(
    String option,
    GrammarSpec content,
    List<Tool> callable,
    boolean required,
    boolean calls,
    boolean parallel) {

  public static final ReplyConstraint NONE =
      new ReplyConstraint("", null, List.of(), false, false, true);

  /**
   * @param responseFormat an object as JSON; null for none
   * @param structuredOutputs an object as JSON; null for none. It is not read if there is a
   *     response format
   * @param choice whether the reply may or must call tools
   * @param several whether the reply may have several calls
   * @param tools the tools that it may call; empty for none
   * @throws IllegalArgumentException if the options contradict each other
   */
  public static ReplyConstraint resolve(
      String responseFormat,
      String structuredOutputs,
      String choice,
      boolean several,
      List<Tool> tools) {
    GrammarSpec content =
        responseFormat != null
            ? responseFormat(responseFormat)
            : structuredOutputs == null ? null : structuredOutputs(structuredOutputs);
    String option = responseFormat != null ? "response_format" : "structured_outputs";
    Map<?, ?> object = choice.startsWith("{") ? JsonValues.object(choice) : Map.of();
    boolean one = object.containsKey("function");
    Map<?, ?> allowed = object.get("allowed_tools") instanceof Map<?, ?> some ? some : null;
    boolean free =
        allowed == null
            ? choice.equals("auto") || choice.equals("none")
            : "auto".equals(allowed.get("mode"));
    boolean forced = !free;
    if (forced && tools.isEmpty()) {
      throw new IllegalArgumentException("tool_choice asks for a call, and there are no tools");
    }
    if (tools.isEmpty()) {
      return content == null
          ? NONE
          : new ReplyConstraint(option, content, List.of(), false, false, true);
    }
    List<Tool> callable =
        one ? List.of(named(tools, object)) : allowed == null ? tools : allowed(tools, allowed);
    boolean parallel = several && !one;
    boolean held =
        forced
            || !parallel
            || callable.size() < tools.size()
            || callable.stream().anyMatch(Tool::strict);
    if (!forced && content != null && content.kind() != Kind.JSON_SCHEMA) {
      throw new IllegalArgumentException(
          "structured_outputs has regex, grammar, choice or structural_tag, which do not go"
              + " together with tools that the reply may call: set tool_choice to none");
    }
    GrammarSpec used = forced ? null : content;
    String named = used == null ? "tools" : option;
    return new ReplyConstraint(named, used, callable, forced, held, parallel);
  }

  private static List<Tool> allowed(List<Tool> tools, Map<?, ?> allowed) {
    return ((List<?>) allowed.get("tools"))
        .stream().map(each -> named(tools, (Map<?, ?>) each)).distinct().toList();
  }

  private static Tool named(List<Tool> tools, Map<?, ?> choice) {
    Object function = choice.get("function");
    Object name = function instanceof Map<?, ?> map ? map.get("name") : null;
    return tools.stream()
        .filter(tool -> tool.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "tool_choice names " + name + ", which is not a tool"));
  }

  private static GrammarSpec responseFormat(String format) {
    Map<String, Object> given = object("response_format", format);
    return switch (String.valueOf(given.get("type"))) {
      case "text" -> null;
      case "json_object" -> new GrammarSpec(Kind.JSON_SCHEMA, "{\"type\":\"object\"}");
      case "json_schema" -> schema(((Map<?, ?>) given.get("json_schema")).get("schema"));
      default -> throw new IllegalArgumentException("response_format has no supported type");
    };
  }

  private static GrammarSpec structuredOutputs(String outputs) {
    Map<String, Object> given = object("structured_outputs", outputs);
    if (given.get("json") != null) {
      return schema(given.get("json"));
    }
    if (given.get("regex") instanceof String regex) {
      return new GrammarSpec(Kind.REGEX, regex);
    }
    if (given.get("grammar") instanceof String grammar) {
      return new GrammarSpec(grammar.contains("::=") ? Kind.GBNF : Kind.LARK, grammar);
    }
    if (given.get("choice") instanceof List<?> texts) {
      String any = texts.stream().map(JsonValues::write).collect(Collectors.joining(" | "));
      return new GrammarSpec(Kind.LARK, "start: " + any + "\n");
    }
    if (given.get("structural_tag") != null) {
      Object tag = given.get("structural_tag");
      Map<?, ?> parsed =
          tag instanceof String text ? object("structural_tag", text) : (Map<?, ?>) tag;
      return new GrammarSpec(Kind.LARK, StructuralTag.grammar(parsed));
    }
    throw new IllegalArgumentException(
        "structured_outputs has none of json, regex, grammar, choice, structural_tag");
  }

  private static GrammarSpec schema(Object schema) {
    return new GrammarSpec(
        Kind.JSON_SCHEMA, schema instanceof String text ? text : JsonValues.write(schema));
  }

  private static Map<String, Object> object(String field, String text) {
    Map<String, Object> object = JsonValues.object(text);
    if (object == null) {
      throw new IllegalArgumentException(field + " is not a JSON object");
    }
    return object;
  }

  /** Returns whether the reply has no constraint. */
  public boolean isFree() {
    return content == null && !calls;
  }

  /** Returns whether only the grammar ends the reply, so that stop strings have no effect. */
  public boolean endsReply() {
    return content != null || required;
  }
}
