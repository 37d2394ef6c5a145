package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.CustomTools;
import io.radixflow.gateway.api.JsonFormat;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads tools, their choice, reasoning and the format of text, and renames them as events name
 * them.
 */
final class ResponseTools {

  private static final int MAX_TOOLS = 1024;
  private static final Set<String> SERVED =
      Set.of("type", "name", "description", "parameters", "strict");
  private static final Set<String> SERVED_CUSTOM = Set.of("type", "name", "description", "format");

  /** The most tools of type custom; each turn keeps their names. */
  private static final int MAX_CUSTOM = 32;

  private static final int MAX_NAME = 64;

  /** Fields that have the same name in events. */
  private static final List<String> SAME =
      List.of(
          "parallel_tool_calls", "tool_parser", "chat_template_kwargs", "thinking_token_budget");

  private static final List<String> FORMATS = List.of("text", "json_object", "json_schema");

  private ResponseTools() {}

  /**
   * Returns the fields of an event that the body asks for.
   *
   * @param notice hears the path of each thing that is ignored
   */
  static ObjectNode read(JsonObject body, Consumer<String> notice) {
    ObjectNode options = Json.object();
    if (body.has("tools")) {
      options.set("tools", tools(body.objects("tools", "tools", MAX_TOOLS), notice));
    }
    for (String field : SAME) {
      if (body.has(field)) {
        options.set(field, body.get(field));
      }
    }
    JsonNode choice = body.get("tool_choice");
    options.set("tool_choice", choice != null && choice.isObject() ? chosen(body) : choice);
    JsonObject reasoning = body.object("reasoning");
    if (reasoning != null) {
      options.set("reasoning_effort", reasoning.get("effort"));
      for (String name : reasoning.names()) {
        if (!name.equals("effort") && reasoning.has(name)) {
          notice.accept(reasoning.path(name));
        }
      }
    }
    JsonObject text = body.object("text");
    if (text != null) {
      JsonObject format = text.object("format");
      if (format != null && "json_schema".equals(format.text("type"))) {
        format.require("name");
      }
      JsonFormat.read(format, FORMATS, options, notice);
      for (String name : text.names()) {
        if (!name.equals("format")) {
          notice.accept(text.path(name));
        }
      }
    }
    return options;
  }

  /**
   * Returns the functions. Agents often send functions together with tools that a server runs
   * itself; these tools are then left out. Without functions, such tools are refused.
   */
  private static ArrayNode tools(List<JsonObject> given, Consumer<String> notice) {
    ArrayNode tools = Json.object().putArray("tools");
    JsonObject other = null;
    for (JsonObject tool : given) {
      String type = tool.require("type").text("type");
      if (type.equals("function")) {
        add(tools, tool, notice);
      } else if (type.equals(CustomTools.CUSTOM)) {
        addCustom(tools, tool, notice);
      } else {
        other = other == null ? tool : other;
        notice.accept(tool.path("type") + "=" + Texts.quote(type));
      }
    }
    if (tools.isEmpty() && other != null) {
      throw notServed(other);
    }
    return tools;
  }

  private static InvalidInputException notServed(JsonObject typed) {
    return new InvalidInputException(
        "%s is %s, which is not served yet; \"function\" and \"custom\" are"
            .formatted(typed.path("type"), Texts.quote(typed.text("type"))));
  }

  /** Returns the choice of one or several functions, in the form of chats. */
  private static ObjectNode chosen(JsonObject body) {
    JsonObject choice = body.object("tool_choice").require("type");
    String type = choice.text("type");
    if (type.equals("allowed_tools")) {
      return allowed(choice);
    }
    return named(choice);
  }

  private static ObjectNode allowed(JsonObject choice) {
    choice.require("mode", "tools");
    ObjectNode given = Json.object().put("type", "allowed_tools");
    ObjectNode allowed = given.putObject("allowed_tools").put("mode", choice.text("mode"));
    ArrayNode tools = allowed.putArray("tools");
    choice.objects("tools", "tools", MAX_TOOLS).forEach(tool -> tools.add(named(tool)));
    return given;
  }

  private static ObjectNode named(JsonObject choice) {
    String type = choice.require("type").text("type");
    if (!type.equals("function") && !type.equals(CustomTools.CUSTOM)) {
      throw notServed(choice);
    }
    ObjectNode named = Json.object().put("type", "function");
    named.putObject("function").put("name", choice.require("name").text("name"));
    return named;
  }

  private static void add(ArrayNode tools, JsonObject tool, Consumer<String> notice) {
    tool.require("name").object("parameters");
    ObjectNode function = tools.addObject().put("type", "function").putObject("function");
    for (String field : List.of("name", "description", "parameters")) {
      if (tool.has(field)) {
        function.set(field, tool.get(field));
      }
    }
    if (tool.bool("strict", false)) {
      function.put("strict", true);
    }
    notServed(tool, SERVED, notice);
  }

  private static void addCustom(ArrayNode tools, JsonObject tool, Consumer<String> notice) {
    ObjectNode function = CustomTools.function(tool, false, notice);
    tools.addObject().put("type", "function").set("function", function);
    notServed(tool, SERVED_CUSTOM, notice);
  }

  private static void notServed(JsonObject tool, Set<String> served, Consumer<String> notice) {
    for (String name : tool.names()) {
      if (!served.contains(name)) {
        notice.accept(tool.path(name));
      }
    }
  }

  /** Returns the names of the tools of type custom. The tools were checked before. */
  static Set<String> custom(JsonObject body) {
    Set<String> names = new LinkedHashSet<>();
    if (body.has("tools")) {
      for (JsonObject tool : body.objects("tools", "tools", MAX_TOOLS)) {
        if (tool.text("type").equals(CustomTools.CUSTOM)) {
          names.add(tool.text("name"));
          if (names.size() > MAX_CUSTOM) {
            throw new InvalidInputException(
                "tools has more than " + MAX_CUSTOM + " tools of type custom");
          }
          if (Texts.length(tool.text("name")) > MAX_NAME) {
            throw new InvalidInputException(
                tool.path("name") + " has more than " + MAX_NAME + " characters");
          }
        }
      }
    }
    return names;
  }
}
