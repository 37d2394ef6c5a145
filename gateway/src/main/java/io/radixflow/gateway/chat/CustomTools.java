package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import io.radixflow.kernels.text.template.JsonValues;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tools of type {@code custom}, whose input is one text. The job has them as functions with the
 * parameter {@code input}.
 *
 * @param names of the request's custom tools
 */
record CustomTools(Set<String> names) {

  static final CustomTools NONE = new CustomTools(Set.of());

  private static final String CUSTOM = "custom";
  private static final String INPUT = "input";
  private static final List<String> SYNTAXES = List.of("regex");

  /** Makes functions of the custom tools of a request, of its choice, and of calls in it. */
  static CustomTools take(ObjectNode body) {
    Set<String> names = new HashSet<>();
    int index = 0;
    for (JsonNode tool : body.path("tools")) {
      if (isCustom(tool)) {
        names.add(define((ObjectNode) tool, "tools[" + index + "]"));
      }
      index++;
    }
    JsonNode choice = body.path("tool_choice");
    name(choice);
    choice.path("allowed_tools").path("tools").forEach(CustomTools::name);
    for (JsonNode message : body.path("messages")) {
      message.path("tool_calls").forEach(CustomTools::call);
    }
    return names.isEmpty() ? NONE : new CustomTools(names);
  }

  private static boolean isCustom(JsonNode node) {
    return node.isObject() && node.path("type").asText().equals(CUSTOM);
  }

  private static String define(ObjectNode tool, String path) {
    if (!tool.path(CUSTOM).path("name").isTextual()) {
      String missing = tool.path(CUSTOM).isObject() ? ".custom.name" : ".custom";
      throw new InvalidInputException(path + missing + " is missing");
    }
    JsonObject custom = JsonObject.of(tool, path).object(CUSTOM);
    ObjectNode function = tool.put("type", "function").putObject("function");
    function.put("name", custom.text("name"));
    if (custom.has("description")) {
      function.put("description", custom.text("description"));
    }
    ObjectNode parameters = function.putObject("parameters").put("type", "object");
    ObjectNode input = parameters.putObject("properties").putObject(INPUT).put("type", "string");
    parameters.putArray("required").add(INPUT);
    parameters.put("additionalProperties", false);
    JsonObject format = custom.object("format");
    if (format != null && "grammar".equals(format.require("type").text("type"))) {
      input.put("pattern", pattern(format.require("grammar").object("grammar"), path));
      function.put("strict", true);
    }
    tool.remove(CUSTOM);
    return custom.text("name");
  }

  private static String pattern(JsonObject grammar, String path) {
    grammar.require("syntax", "definition");
    String syntax = grammar.text("syntax");
    if (!SYNTAXES.contains(syntax)) {
      throw new InvalidInputException(
          path
              + ".custom.format.grammar.syntax is "
              + Texts.quote(syntax)
              + ", which is not served yet; \"regex\" is");
    }
    return "^(?:" + grammar.text("definition") + ")$";
  }

  private static void name(JsonNode choice) {
    if (isCustom(choice) && choice.path(CUSTOM).isObject()) {
      ObjectNode given = (ObjectNode) choice;
      given.put("type", "function").set("function", given.remove(CUSTOM));
    }
  }

  private static void call(JsonNode call) {
    if (isCustom(call) && call.path(CUSTOM).isObject()) {
      ObjectNode given = (ObjectNode) call;
      JsonNode custom = given.remove(CUSTOM);
      ObjectNode function = given.put("type", "function").putObject("function");
      function.set("name", custom.get("name"));
      ObjectNode arguments = Json.object();
      arguments.put(INPUT, Texts.wellFormed(custom.path(INPUT).asText()));
      function.put("arguments", arguments.toString());
    }
  }

  /** Returns the input of a call; its arguments as they are if they are cut or malformed. */
  static String input(String arguments) {
    Map<String, Object> given = JsonValues.object(arguments);
    return given != null && given.get(INPUT) instanceof String input ? input : arguments;
  }
}
