package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;

/**
 * Reads the constraint on a reply's content. Schemas and grammars are kept unchanged; the engine
 * compiles them, and refuses unsupported ones.
 */
final class StructureReader {
  static final int MAX_LENGTH = 128 * 1024;
  static final int MAX_CHOICES = 1_000;
  private static final List<String> TYPES = List.of("text", "json_object", "json_schema");
  private static final List<String> KINDS =
      List.of("json", "regex", "grammar", "choice", "structural_tag");
  private static final String GUIDED = "guided_";

  /** The kinds of constraints that also have an older name. */
  private static final List<String> OLDER = KINDS.subList(0, 4);

  /** Fields of which at most one may be given, since each is a constraint of the reply. */
  private static final List<String> FIELDS =
      Stream.concat(
              Stream.of("response_format", "structured_outputs"),
              OLDER.stream().map(GUIDED::concat))
          .toList();

  private StructureReader() {}

  /** Returns the form of the reply's content as a JSON object; null if it is not given. */
  static String responseFormat(JsonObject fields) {
    List<String> given = FIELDS.stream().filter(fields::has).toList();
    if (given.size() > 1) {
      throw new InvalidInputException(
          given.get(0)
              + " and "
              + given.get(1)
              + " both constrain the reply: give only one of them");
    }
    JsonObject format = fields.object("response_format");
    if (format == null) {
      return null;
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
    for (String kind : OLDER) {
      if (fields.has(GUIDED + kind)) {
        check(kind, GUIDED + kind, fields);
        JsonNode outputs =
            JsonNodeFactory.instance.objectNode().set(kind, fields.get(GUIDED + kind));
        return ToolOptionsReader.text(GUIDED + kind, outputs, MAX_LENGTH);
      }
    }
    JsonObject outputs = fields.object("structured_outputs");
    if (outputs == null) {
      return null;
    }
    outputs.allow(KINDS);
    List<String> given = KINDS.stream().filter(outputs::has).toList();
    if (given.size() != 1) {
      throw new InvalidInputException(
          "structured_outputs must have one of " + String.join(", ", KINDS));
    }
    check(given.get(0), given.get(0), outputs);
    return ToolOptionsReader.text(
        "structured_outputs", fields.get("structured_outputs"), MAX_LENGTH);
  }

  /** Checks a grammar of a kind, which is the field {@code name} of an object. */
  private static void check(String kind, String name, JsonObject fields) {
    switch (kind) {
      case "json", "structural_tag" -> {
        if (!fields.get(name).isTextual()) {
          fields.object(name);
        }
      }
      case "choice" -> checkChoice(fields.path(name), fields.array(name, "texts", MAX_CHOICES));
      default -> fields.text(name);
    }
  }

  private static void checkChoice(String path, JsonNode choice) {
    if (choice.isEmpty()) {
      throw new InvalidInputException(path + " is empty");
    }
    for (int i = 0; i < choice.size(); i++) {
      JsonObject.text(path + "[" + i + "]", choice.get(i));
    }
  }
}
