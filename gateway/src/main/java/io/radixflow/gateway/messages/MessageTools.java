package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.JsonFormat;
import io.radixflow.gateway.api.Thinking;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads tools, their choice, the options of thinking and the format of the reply, and renames them
 * as events name them.
 */
final class MessageTools {

  private static final int MAX_TOOLS = 1024;
  private static final Set<String> SERVED =
      Set.of("type", "name", "description", "input_schema", "strict", "cache_control");
  private static final List<String> FORMATS = List.of("json_schema");
  private static final List<String> CHOICES = List.of("auto", "none", "any", "tool");

  private final CacheControls controls;
  private final Consumer<String> notice;

  /**
   * @param notice hears the path of each thing that is ignored
   */
  MessageTools(CacheControls controls, Consumer<String> notice) {
    this.controls = controls;
    this.notice = notice;
  }

  /** Returns the fields of an event that the body asks for. */
  ObjectNode read(JsonObject body) {
    ObjectNode options = Json.object();
    if (body.has("tools")) {
      ArrayNode tools = options.putArray("tools");
      body.objects("tools", "tools", MAX_TOOLS).forEach(tool -> add(tools, tool));
    }
    JsonObject choice = body.object("tool_choice");
    if (choice != null) {
      choose(choice, options);
    }
    Thinking.read(body.object("thinking"), options, notice);
    format(body, options);
    return options;
  }

  /** Reads the format of the reply, by its current name or by its older name. */
  private void format(JsonObject body, ObjectNode options) {
    JsonObject format = body.object("output_format");
    JsonObject output = body.object("output_config");
    if (output != null) {
      JsonObject today = output.object("format");
      if (format != null && today != null) {
        throw new InvalidInputException(
            "output_format and output_config.format both constrain the reply: give only one of"
                + " them");
      }
      format = today == null ? format : today;
      for (String name : output.names()) {
        if (!name.equals("format")) {
          notice.accept(output.path(name));
        }
      }
    }
    JsonFormat.read(format, FORMATS, options, notice);
  }

  private void add(ArrayNode tools, JsonObject tool) {
    controls.read(tool);
    String type = tool.text("type");
    if (type != null && !type.equals("custom")) {
      throw new InvalidInputException(
          tool.path("type")
              + " is "
              + Texts.quote(type)
              + ", which is not served yet; \"custom\" is");
    }
    tool.require("name", "input_schema").object("input_schema");
    ObjectNode function = tools.addObject().put("type", "function").putObject("function");
    function.put("name", tool.text("name"));
    if (tool.has("description")) {
      function.put("description", tool.text("description"));
    }
    function.set("parameters", tool.get("input_schema"));
    if (tool.bool("strict", false)) {
      function.put("strict", true);
    }
    for (String name : tool.names()) {
      if (!SERVED.contains(name)) {
        notice.accept(tool.path(name));
      }
    }
  }

  private static void choose(JsonObject choice, ObjectNode options) {
    String type = choice.require("type").text("type");
    switch (type) {
      case "auto", "none" -> options.put("tool_choice", type);
      case "any" -> options.put("tool_choice", "required");
      case "tool" ->
          options
              .putObject("tool_choice")
              .put("type", "function")
              .putObject("function")
              .put("name", choice.require("name").text("name"));
      default -> throw JsonObject.notOneOf(choice.path("type"), type, CHOICES);
    }
    if (choice.bool("disable_parallel_tool_use", false)) {
      options.put("parallel_tool_calls", false);
    }
  }
}
