package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.jobs.json.WrittenNumbers;
import io.radixflow.operators.record.GenerationOptions;
import java.io.IOException;

/** Writes what a response repeats of its request: tools, their choice, reasoning, the format. */
final class ResponseOptions {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final GenerationOptions NONE = GenerationOptions.builder().build();

  private ResponseOptions() {}

  /**
   * Adds the fields to a response.
   *
   * @param given the options of its turn, or null
   */
  static void put(ObjectNode response, GenerationOptions given) {
    GenerationOptions options = given == null ? NONE : given;
    response.put("presence_penalty", orZero(options.presencePenalty()));
    response.put("frequency_penalty", orZero(options.frequencyPenalty()));
    response.put("parallel_tool_calls", !Boolean.FALSE.equals(options.parallelToolCalls()));
    response.putObject("reasoning").put("effort", options.reasoningEffort()).putNull("summary");
    response.putObject("text").set("format", format(options.responseFormat()));
    response.set("tool_choice", choice(options.toolChoice()));
    ArrayNode tools = response.putArray("tools");
    if (options.tools() != null) {
      read(options.tools()).forEach(tool -> tools.add(tool(tool.path("function"))));
    }
  }

  private static double orZero(Double number) {
    return number == null ? 0 : number;
  }

  private static ObjectNode tool(JsonNode function) {
    ObjectNode tool = JSON.createObjectNode().put("type", "function");
    for (String field : new String[] {"name", "description", "parameters"}) {
      tool.set(field, function.get(field));
    }
    return tool.put("strict", function.path("strict").booleanValue());
  }

  private static JsonNode choice(String given) {
    String choice = given == null ? "auto" : given;
    return choice.startsWith("{") ? choice(read(choice)) : JSON.getNodeFactory().textNode(choice);
  }

  private static ObjectNode choice(JsonNode given) {
    JsonNode allowed = given.get("allowed_tools");
    ObjectNode choice = JSON.createObjectNode().set("type", given.get("type"));
    if (allowed == null) {
      return choice.put("name", given.at("/function/name").asText());
    }
    ArrayNode tools = choice.put("mode", allowed.path("mode").asText()).putArray("tools");
    allowed.path("tools").forEach(tool -> tools.add(choice(tool)));
    return choice;
  }

  private static ObjectNode format(String given) {
    JsonNode format = given == null ? JSON.createObjectNode() : read(given);
    ObjectNode shown = JSON.createObjectNode().put("type", format.path("type").asText("text"));
    format.path("json_schema").fields().forEachRemaining(e -> shown.set(e.getKey(), e.getValue()));
    return shown;
  }

  /** Reads what was checked when the request, or the event of another client, was read. */
  private static JsonNode read(String json) {
    try {
      return WrittenNumbers.read(JSON, json);
    } catch (IOException e) {
      throw new IllegalStateException("an option of a turn is no JSON", e);
    }
  }
}
