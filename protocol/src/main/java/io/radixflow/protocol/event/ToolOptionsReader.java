package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads the parts of a prompt besides its messages: tools, and variables of the chat template. JSON
 * is kept as text without white space and with its keys in order, because this text becomes a part
 * of the prompt.
 */
final class ToolOptionsReader {
  static final int MAX_TOOLS = 1024;
  static final int MAX_TOOLS_LENGTH = 256 * 1024;
  static final int MAX_VARIABLES = 64;
  static final int MAX_VARIABLES_LENGTH = 64 * 1024;

  /** The names that OpenAI and Anthropic accept, plus the further characters of MCP's names. */
  private static final String NAME = "[a-zA-Z0-9_./:-]{1,128}";

  private static final Pattern NAME_PATTERN = Pattern.compile(NAME);
  private static final String PARSER = "[a-zA-Z0-9_-]{1,64}";
  private static final Pattern PARSER_PATTERN = Pattern.compile(PARSER);
  private static final String VARIABLE = "[a-zA-Z_][a-zA-Z0-9_]{0,63}";
  private static final Pattern VARIABLE_PATTERN = Pattern.compile(VARIABLE);
  private static final List<String> EFFORTS =
      List.of("none", "minimal", "low", "medium", "high", "xhigh");
  private static final List<String> CHOICES = List.of("auto", "none", "required");
  private static final List<String> CHOICE_TYPES = List.of("function", "allowed_tools");
  private static final List<String> MODES = List.of("auto", "required");
  private static final List<String> TOOL_FIELDS = List.of("type", "function");
  private static final List<String> FUNCTION_FIELDS =
      List.of("name", "description", "parameters", "strict");
  private static final Set<String> RESERVED =
      Set.of("messages", "tools", "documents", "add_generation_prompt", "continue_final_message");

  private ToolOptionsReader() {}

  /** Returns the definitions of the tools as a JSON array; null if they are not given. */
  static String tools(JsonObject fields) {
    if (!fields.has("tools")) {
      return null;
    }
    Set<String> names = new HashSet<>();
    for (JsonObject tool : fields.objects("tools", "tools", MAX_TOOLS)) {
      tool.allow(TOOL_FIELDS).require("type", "function");
      if (!tool.text("type").equals("function")) {
        throw JsonObject.notOneOf(tool.path("type"), tool.text("type"), List.of("function"));
      }
      JsonObject function = tool.object("function");
      String name = function(function);
      if (!names.add(name)) {
        throw new InvalidInputException(
            function.path("name") + " is " + Texts.quote(name) + ", which another tool has");
      }
    }
    return text("tools", fields.get("tools"), MAX_TOOLS_LENGTH);
  }

  private static String function(JsonObject function) {
    String name = name(function.allow(FUNCTION_FIELDS).require("name"));
    function.text("description");
    function.object("parameters");
    function.bool("strict");
    return name;
  }

  private static String name(JsonObject function) {
    String name = function.text("name");
    if (!NAME_PATTERN.matcher(name).matches()) {
      throw new InvalidInputException(
          function.path("name") + " is " + Texts.quote(name) + "; it must match " + NAME);
    }
    return name;
  }

  /**
   * Returns whether the model may or must call tools, or, as a JSON object, the tool that it must
   * call; null if not given.
   */
  static String toolChoice(JsonObject fields) {
    JsonNode value = fields.get("tool_choice");
    if (value == null) {
      return null;
    }
    if (value.isObject()) {
      JsonObject choice = fields.object("tool_choice").require("type");
      return choice.text("type").equals("allowed_tools") ? allowed(choice) : named(choice);
    }
    String choice = fields.text("tool_choice");
    if (!CHOICES.contains(choice)) {
      throw JsonObject.notOneOf("tool_choice", choice, CHOICES);
    }
    return choice;
  }

  private static String named(JsonObject given) {
    given.allow(TOOL_FIELDS).require("type", "function");
    if (!given.text("type").equals("function")) {
      throw JsonObject.notOneOf(given.path("type"), given.text("type"), CHOICE_TYPES);
    }
    JsonObject function = given.object("function").allow(List.of("name")).require("name");
    return "{\"type\":\"function\",\"function\":{\"name\":\"" + name(function) + "\"}}";
  }

  /** Reads the list of tools that the reply may or must call. */
  private static String allowed(JsonObject choice) {
    JsonObject allowed =
        choice
            .allow(List.of("type", "allowed_tools"))
            .require("allowed_tools")
            .object("allowed_tools")
            .allow(List.of("mode", "tools"))
            .require("mode", "tools");
    String mode = allowed.text("mode");
    if (!MODES.contains(mode)) {
      throw JsonObject.notOneOf(allowed.path("mode"), mode, MODES);
    }
    List<JsonObject> tools = allowed.objects("tools", "tools", MAX_TOOLS);
    if (tools.isEmpty()) {
      throw new InvalidInputException(
          allowed.path("tools") + " is empty; set tool_choice to none for no calls");
    }
    String names = tools.stream().map(ToolOptionsReader::named).collect(Collectors.joining(","));
    return "{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"%s\",\"tools\":[%s]}}"
        .formatted(mode, names);
  }

  /** Returns the name of the format of calls. The job checks whether the format exists. */
  static String toolParser(JsonObject fields) {
    String parser = fields.text("tool_parser");
    if (parser != null && !PARSER_PATTERN.matcher(parser).matches()) {
      throw new InvalidInputException(
          "tool_parser is " + Texts.quote(parser) + "; it must match " + PARSER);
    }
    return parser;
  }

  /** Returns variables of the chat template as a JSON object; null if they are not given. */
  static String chatTemplateKwargs(JsonObject fields) {
    JsonObject given = fields.object("chat_template_kwargs");
    if (given == null) {
      return null;
    }
    JsonNode value = fields.get("chat_template_kwargs");
    if (value.size() > MAX_VARIABLES) {
      throw new InvalidInputException(
          "chat_template_kwargs has %d variables; at most %d are allowed"
              .formatted(value.size(), MAX_VARIABLES));
    }
    for (String name : given.names()) {
      if (!VARIABLE_PATTERN.matcher(name).matches()) {
        throw new InvalidInputException(
            "chat_template_kwargs has the name "
                + Texts.quote(name)
                + "; it must match "
                + VARIABLE);
      }
      if (RESERVED.contains(name)) {
        throw new InvalidInputException(
            "chat_template_kwargs has " + name + ", which is not for its sender to set");
      }
    }
    return text("chat_template_kwargs", value, MAX_VARIABLES_LENGTH);
  }

  /** Returns the reasoning effort; null if it is not given. */
  static String reasoningEffort(JsonObject fields) {
    String effort = fields.text("reasoning_effort");
    if (effort != null && !EFFORTS.contains(effort)) {
      throw JsonObject.notOneOf("reasoning_effort", effort, EFFORTS);
    }
    return effort;
  }

  static String text(String field, JsonNode value, int max) {
    String text = Texts.wellFormed(value.toString());
    if (text.length() > max) {
      throw new InvalidInputException(
          "%s has %d characters; at most %d are allowed".formatted(field, text.length(), max));
    }
    return text;
  }
}
