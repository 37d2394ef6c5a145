package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.text.template.JsonValues;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Tools of type {@code custom}, whose input is one text. For the job they are functions with the
 * parameter {@code input}.
 */
public final class CustomTools {

  /** The type of custom tools, their calls and their choice. */
  public static final String CUSTOM = "custom";

  private static final String INPUT = "input";
  private static final List<String> FORMATS = List.of("text", "grammar");
  private static final List<String> SYNTAXES = List.of("regex", "lark");

  /**
   * The keyword of a schema for a Lark grammar. The model sees the grammar, but nothing enforces
   * it.
   */
  private static final String LARK = "x-lark";

  /** The text before a regular expression in a pattern, because a pattern may match anywhere. */
  private static final String BEFORE = "^(?:";

  private static final String AFTER = ")$";

  private CustomTools() {}

  /**
   * Returns the function that stands for a custom tool.
   *
   * @param custom the tool, with name, description and format
   * @param nested whether a grammar is an object within the format, as chats have it
   * @param notice receives the path of a format that is not enforced
   */
  public static ObjectNode function(JsonObject custom, boolean nested, Consumer<String> notice) {
    ObjectNode function = Json.object();
    function.put("name", custom.require("name").text("name"));
    if (custom.has("description")) {
      function.put("description", custom.text("description"));
    }
    ObjectNode parameters = function.putObject("parameters").put("type", "object");
    ObjectNode input = parameters.putObject("properties").putObject(INPUT).put("type", "string");
    parameters.putArray("required").add(INPUT);
    parameters.put("additionalProperties", false);
    JsonObject format = custom.object("format");
    if (format == null) {
      return function;
    }
    String type = format.require("type").text("type");
    if (!FORMATS.contains(type)) {
      throw JsonObject.notOneOf(format.path("type"), type, FORMATS);
    }
    if (type.equals("grammar")) {
      JsonObject grammar = nested ? format.require("grammar").object("grammar") : format;
      String syntax = grammar.require("syntax", "definition").text("syntax");
      String definition = grammar.text("definition");
      if (!SYNTAXES.contains(syntax)) {
        throw JsonObject.notOneOf(grammar.path("syntax"), syntax, SYNTAXES);
      }
      if (syntax.equals("lark")) {
        input.put(LARK, definition);
        notice.accept(custom.path("format"));
      } else {
        input.put("pattern", BEFORE + definition + AFTER);
        function.put("strict", true);
      }
    }
    return function;
  }

  /**
   * Returns the format of the custom tool of a function, in the form of responses.
   *
   * @param function a result of {@link #function}
   */
  public static ObjectNode format(JsonNode function) {
    JsonNode input = function.at("/parameters/properties/" + INPUT);
    String pattern = input.path("pattern").asText();
    ObjectNode format = Json.object();
    if (input.has(LARK)) {
      format.put("type", "grammar").put("definition", input.get(LARK).asText());
      return format.put("syntax", "lark");
    } else if (pattern.startsWith(BEFORE) && pattern.endsWith(AFTER)) {
      int end = pattern.length() - AFTER.length();
      format.put("type", "grammar").put("definition", pattern.substring(BEFORE.length(), end));
      return format.put("syntax", "regex");
    }
    return format.put("type", "text");
  }

  /** Returns the input of a call. If the arguments are cut or malformed, returns them unchanged. */
  public static String input(String arguments) {
    Map<String, Object> given = JsonValues.object(arguments);
    return given != null && given.get(INPUT) instanceof String input ? input : arguments;
  }
}
