package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.InvalidInputException;
import io.radixflow.jobs.json.JsonObject;
import java.util.List;

/**
 * Reads what the content of a reply is held to. Schemas and grammars are kept as they are written;
 * the engine compiles them, and refuses those that are not served.
 */
final class StructureReader {
  static final int MAX_LENGTH = 128 * 1024;
  static final int MAX_CHOICES = 1_000;
  private static final List<String> TYPES = List.of("text", "json_object", "json_schema");
  private static final List<String> KINDS = List.of("json", "regex", "grammar", "choice");

  private StructureReader() {}

  /** Returns the form of the reply's content as a JSON object; null if it is not given. */
  static String responseFormat(JsonObject fields) {
    JsonObject format = fields.object("response_format");
    if (format == null) {
      return null;
    }
    if (fields.has("structured_outputs")) {
      throw new InvalidInputException(
          "response_format and structured_outputs both say what the reply is held to: give one of"
              + " them");
    }
    String type = format.allow(List.of("type", "json_schema")).require("type").text("type");
    if (!TYPES.contains(type)) {
      throw JsonObject.notOneOf(format.path("type"), type, TYPES);
    }
    if (type.equals("json_schema")) {
      JsonObject schema = format.require("json_schema").object("json_schema");
      schema.allow(List.of("name", "description", "schema", "strict")).require("schema");
      schema.text("name");
      schema.text("description");
      schema.object("schema");
      schema.bool("strict");
    } else if (format.has("json_schema")) {
      throw new InvalidInputException(
          format.path("json_schema") + " needs response_format.type to be json_schema");
    }
    return ToolOptionsReader.text("response_format", fields.get("response_format"), MAX_LENGTH);
  }

  /** Returns the grammar of the reply's content as a JSON object; null if it is not given. */
  static String structuredOutputs(JsonObject fields) {
    JsonObject outputs = fields.object("structured_outputs");
    if (outputs == null) {
      return null;
    }
    outputs.allow(KINDS);
    if (KINDS.stream().filter(outputs::has).count() != 1) {
      throw new InvalidInputException(
          "structured_outputs must have one of " + String.join(", ", KINDS));
    }
    JsonNode json = outputs.get("json");
    if (json != null && !json.isTextual()) {
      outputs.object("json");
    }
    outputs.text("regex");
    outputs.text("grammar");
    JsonNode choice = outputs.array("choice", "texts", MAX_CHOICES);
    if (choice != null) {
      if (choice.isEmpty()) {
        throw new InvalidInputException(outputs.path("choice") + " is empty");
      }
      for (int i = 0; i < choice.size(); i++) {
        JsonObject.text(outputs.path("choice") + "[" + i + "]", choice.get(i));
      }
    }
    return ToolOptionsReader.text(
        "structured_outputs", fields.get("structured_outputs"), MAX_LENGTH);
  }
}
