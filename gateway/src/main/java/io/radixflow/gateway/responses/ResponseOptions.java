package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.CustomTools;
import io.radixflow.protocol.json.WrittenNumbers;
import io.radixflow.protocol.record.GenerationOptions;
import java.io.IOException;
import java.util.Set;

/** Writes the request fields that a response repeats: tools, tool choice, reasoning and format. */
final class ResponseOptions {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final GenerationOptions NONE = GenerationOptions.builder().build();

  private ResponseOptions() {}

  /**
   * Adds the fields to a response.
   *
   * @param given the options of the response's turn, or null
   * @param custom the names of the turn's tools of type custom
   */
  static void put(ObjectNode response, GenerationOptions given, Set<String> custom) {
    GenerationOptions options = given == null ? NONE : given;
    response.put("presence_penalty", orZero(options.presencePenalty()));
    response.put("frequency_penalty", orZero(options.frequencyPenalty()));
    response.put("parallel_tool_calls", !Boolean.FALSE.equals(options.parallelToolCalls()));
    response.putObject("reasoning").put("effort", options.reasoningEffort()).putNull("summary");
    response.putObject("text").set("format", format(options.responseFormat()));
    response.set("tool_choice", choice(options.toolChoice(), custom));
    ArrayNode tools = response.putArray("tools");
    if (options.tools() != null) {
      read(options.tools()).forEach(tool -> tools.add(tool(tool.path("function"), custom)));
    }
  }

  private static double orZero(Double number) {
    return number == null ? 0 : number;
  }

  private static ObjectNode tool(JsonNode function, Set<String> custom) {
    if (custom.contains(function.path("name").asText())) {
      ObjectNode tool = JSON.createObjectNode().put("type", CustomTools.CUSTOM);
      tool.set("name", function.get("name"));
      if (function.has("description")) {
        tool.set("description", function.get("description"));
      }
      return tool.set("format", CustomTools.format(function));
    }
    ObjectNode tool = JSON.createObjectNode().put("type", "function");
    for (String field : new String[] {"name", "description", "parameters"}) {
      tool.set(field, function.get(field));
    }
    return tool.put("strict", function.path("strict").booleanValue());
  }

  private static JsonNode choice(String given, Set<String> custom) {
    String choice = given == null ? "auto" : given;
    return choice.startsWith("{")
        ? choice(read(choice), custom)
        : JSON.getNodeFactory().textNode(choice);
  }

  private static ObjectNode choice(JsonNode given, Set<String> custom) {
    JsonNode allowed = given.get("allowed_tools");
    ObjectNode choice = JSON.createObjectNode().set("type", given.get("type"));
    if (allowed == null) {
      String name = given.at("/function/name").asText();
      return choice
          .put("type", custom.contains(name) ? CustomTools.CUSTOM : "function")
          .put("name", name);
    }
    ArrayNode tools = choice.put("mode", allowed.path("mode").asText()).putArray("tools");
    allowed.path("tools").forEach(tool -> tools.add(choice(tool, custom)));
    return choice;
  }

  private static ObjectNode format(String given) {
    JsonNode format = given == null ? JSON.createObjectNode() : read(given);
    ObjectNode shown = JSON.createObjectNode().put("type", format.path("type").asText("text"));
    format.path("json_schema").fields().forEachRemaining(e -> shown.set(e.getKey(), e.getValue()));
    return shown;
  }

  /** Reads JSON that was checked when the request, or the event of another client, was read. */
  private static JsonNode read(String json) {
    try {
      return WrittenNumbers.read(JSON, json);
    } catch (IOException e) {
      throw new IllegalStateException("an option of a turn is not JSON", e);
    }
  }
}
