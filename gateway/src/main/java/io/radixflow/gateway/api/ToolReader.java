package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads the tools of a request and the tool choice in the form of an API, and converts them to the
 * form of events. One object reads one request.
 */
public final class ToolReader {

  /** The forms of tools. */
  public enum Form {
    /** Chat completions: the form of events, and custom tools. */
    CHAT("parameters"),

    /** Responses: the fields of a function are next to its type. */
    RESPONSES("parameters", "type", "name", "description", "parameters", "strict"),

    /** Anthropic: all tools are functions, and custom is their type. */
    MESSAGES(
        "input_schema", "type", "name", "description", "input_schema", "strict", "cache_control");

    private final String parameters;
    private final Set<String> fields;

    Form(String parameters, String... fields) {
      this.parameters = parameters;
      this.fields = Set.of(fields);
    }
  }

  private static final int MAX_TOOLS = 1024;

  /** The most tools of type custom in a request whose turn keeps their names. */
  private static final int MAX_CUSTOM = 32;

  private static final int MAX_NAME = 64;
  private static final String FUNCTION = "function";
  private static final String ALLOWED = "allowed_tools";
  private static final Set<String> CUSTOM_FIELDS = Set.of("type", "name", "description", "format");
  private static final Set<String> WORDS = Set.of("auto", "none", "required");
  private static final List<String> CHOICES = List.of("auto", "none", "any", "tool");

  private final Form form;
  private final Consumer<String> notice;
  private final Set<String> custom = new LinkedHashSet<>();

  /**
   * @param notice receives the path of each field or tool that is left out
   */
  public ToolReader(Form form, Consumer<String> notice) {
    this.form = form;
    this.notice = notice;
  }

  /**
   * Reads {@code tools} and {@code tool_choice}.
   *
   * @param options receives both as fields of an event; for chats this is the body itself
   * @return the names of the tools of type custom
   */
  public Set<String> read(JsonObject body, ObjectNode options) {
    if (body.has("tools")) {
      List<JsonObject> given = body.objects("tools", "tools", MAX_TOOLS);
      if (form == Form.CHAT) {
        unify(given, options.path("tools"));
      } else {
        options.set("tools", functions(given));
      }
    }
    switch (form) {
      case CHAT -> unifyChoice(body, options);
      case RESPONSES -> {
        JsonNode choice = body.get("tool_choice");
        boolean plain = choice == null || !choice.isObject();
        options.set("tool_choice", plain ? choice : chosen(body.object("tool_choice")));
      }
      case MESSAGES -> chooseBlock(body.object("tool_choice"), options);
    }
    return custom;
  }

  /** Converts custom tools, and functions without a type, to functions. */
  private void unify(List<JsonObject> given, JsonNode tools) {
    for (int i = 0; i < given.size(); i++) {
      ObjectNode tool = (ObjectNode) tools.get(i);
      if (!tool.hasNonNull("type") && tool.path(FUNCTION).isObject()) {
        tool.put("type", FUNCTION);
      } else if (isCustom(tool)) {
        ObjectNode function =
            customFunction(given.get(i).require(CustomTools.CUSTOM).object(CustomTools.CUSTOM));
        tool.remove(CustomTools.CUSTOM);
        tool.put("type", FUNCTION).set(FUNCTION, function);
      }
    }
  }

  private ObjectNode customFunction(JsonObject tool) {
    ObjectNode function = CustomTools.function(tool, form == Form.CHAT, notice);
    custom.add(function.get("name").textValue());
    return function;
  }

  private static boolean isCustom(JsonNode node) {
    return node.path("type").asText().equals(CustomTools.CUSTOM);
  }

  private static void unifyChoice(JsonObject body, ObjectNode raw) {
    JsonNode choice = raw.path("tool_choice");
    if (choice.size() == 1 && WORDS.contains(choice.path("type").asText())) {
      raw.set("tool_choice", choice.get("type"));
    }
    unifyNamed(choice);
    choice.path(ALLOWED).path("tools").forEach(ToolReader::unifyNamed);
  }

  private static void unifyNamed(JsonNode choice) {
    if (isCustom(choice) && choice.path(CustomTools.CUSTOM).isObject()) {
      ObjectNode given = (ObjectNode) choice;
      given.put("type", FUNCTION).set(FUNCTION, given.remove(CustomTools.CUSTOM));
    }
  }

  /**
   * Returns the functions. Agents that use OpenAI's responses often send functions together with
   * tools that a server runs itself; these tools are then left out. Without functions, such tools
   * are refused.
   */
  private ArrayNode functions(List<JsonObject> given) {
    ArrayNode tools = Json.object().putArray("tools");
    JsonObject other = null;
    for (JsonObject tool : given) {
      boolean plain = form == Form.MESSAGES;
      String type = plain ? tool.text("type") : tool.require("type").text("type");
      if (type == null || type.equals(plain ? CustomTools.CUSTOM : FUNCTION)) {
        tools.addObject().put("type", FUNCTION).set(FUNCTION, function(tool));
      } else if (plain) {
        throw notServed(tool, "\"custom\" is");
      } else if (type.equals(CustomTools.CUSTOM)) {
        tools.addObject().put("type", FUNCTION).set(FUNCTION, bounded(tool));
      } else {
        other = other == null ? tool : other;
        notice.accept(tool.path("type") + "=" + Texts.quote(type));
      }
    }
    if (tools.isEmpty() && other != null) {
      throw notServed(other, "\"function\" and \"custom\" are");
    }
    return tools;
  }

  private static InvalidInputException notServed(JsonObject typed, String served) {
    return new InvalidInputException(
        "%s is %s, which is not served yet; %s"
            .formatted(typed.path("type"), Texts.quote(typed.text("type")), served));
  }

  private ObjectNode function(JsonObject tool) {
    tool.require("name").object(form.parameters);
    ObjectNode function = Json.object().put("name", tool.text("name"));
    if (tool.has("description")) {
      function.put("description", tool.text("description"));
    }
    if (form == Form.MESSAGES) {
      tool.require(form.parameters);
    }
    if (tool.has(form.parameters)) {
      function.set("parameters", tool.get(form.parameters));
    }
    if (tool.bool("strict", false)) {
      function.put("strict", true);
    }
    tool.leaveOut(form.fields, notice);
    return function;
  }

  private ObjectNode bounded(JsonObject tool) {
    ObjectNode function = customFunction(tool);
    if (custom.size() > MAX_CUSTOM) {
      throw new InvalidInputException(
          "tools has more than " + MAX_CUSTOM + " tools of type custom");
    }
    if (Texts.length(tool.text("name")) > MAX_NAME) {
      throw new InvalidInputException(
          tool.path("name") + " has more than " + MAX_NAME + " characters");
    }
    tool.leaveOut(CUSTOM_FIELDS, notice);
    return function;
  }

  /** Returns the choice of one or several functions, in the form of chats. */
  private static ObjectNode chosen(JsonObject choice) {
    if (!choice.require("type").text("type").equals(ALLOWED)) {
      return named(choice);
    }
    choice.require("mode", "tools");
    ObjectNode given = Json.object().put("type", ALLOWED);
    ArrayNode tools = given.putObject(ALLOWED).put("mode", choice.text("mode")).putArray("tools");
    choice.objects("tools", "tools", MAX_TOOLS).forEach(tool -> tools.add(named(tool)));
    return given;
  }

  private static ObjectNode named(JsonObject choice) {
    String type = choice.require("type").text("type");
    if (!type.equals(FUNCTION) && !type.equals(CustomTools.CUSTOM)) {
      throw notServed(choice, "\"function\" and \"custom\" are");
    }
    return functionNamed(choice);
  }

  private static ObjectNode functionNamed(JsonObject choice) {
    ObjectNode named = Json.object().put("type", FUNCTION);
    named.putObject(FUNCTION).put("name", choice.require("name").text("name"));
    return named;
  }

  private static void chooseBlock(JsonObject choice, ObjectNode options) {
    if (choice == null) {
      return;
    }
    String type = choice.require("type").text("type");
    switch (type) {
      case "auto", "none" -> options.put("tool_choice", type);
      case "any" -> options.put("tool_choice", "required");
      case "tool" -> options.set("tool_choice", functionNamed(choice));
      default -> throw JsonObject.notOneOf(choice.path("type"), type, CHOICES);
    }
    if (choice.bool("disable_parallel_tool_use", false)) {
      options.put("parallel_tool_calls", false);
    }
  }
}
