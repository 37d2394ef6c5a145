package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads the constraint of a reply from fields that other servers define, and renames these fields
 * to the names in events.
 */
final class ReplyShape {
  /** Fields of llama.cpp and SGLang, with their names in {@code structured_outputs}. */
  private static final Map<String, String> NAMES =
      Map.of(
          "grammar", "grammar",
          "ebnf", "grammar",
          "regex", "regex",
          "json_schema", "json",
          "structural_tag", "structural_tag");

  /** Further request fields that constrain the reply. */
  static final List<String> FIELDS = NAMES.keySet().stream().sorted().toList();

  private static final List<String> SAME =
      List.of(
          "response_format",
          "structured_outputs",
          "guided_json",
          "guided_regex",
          "guided_grammar",
          "guided_choice");

  /**
   * Names of the field that contains the text or schema in the {@code response_format} of other
   * servers.
   */
  private static final List<String> VALUES =
      List.of("schema", "json_schema", "value", "pattern", "regex", "grammar", "ebnf");

  private ReplyShape() {}

  /**
   * Renames the fields of a request.
   *
   * @return the paths of ignored fields
   * @throws ApiException if more than one constraint is given
   */
  static List<String> rename(ObjectNode body) {
    body.properties()
        .removeIf(field -> NAMES.containsKey(field.getKey()) && saysNothing(field.getValue()));
    if (body.path("response_format").path("type").asText().equals("text") && count(body) > 1) {
      body.remove("response_format");
    }
    if (count(body) > 1) {
      List<String> given = given(body);
      throw ApiException.badRequest(
          given.get(1),
          given.get(0)
              + " and "
              + given.get(1)
              + " both constrain the reply: give only one of them");
    }
    NAMES.forEach(
        (name, kind) -> {
          if (body.has(name)) {
            JsonNode value = body.remove(name);
            hold(body, kind, value);
          }
        });
    List<String> ignored = new ArrayList<>();
    if (body.get("response_format") instanceof ObjectNode format) {
      rename(body, format);
    }
    if (body.get("structured_outputs") instanceof ObjectNode outputs) {
      rename(outputs, ignored);
    }
    return ignored;
  }

  private static boolean saysNothing(JsonNode value) {
    return value.isNull()
        || value.isTextual() && value.textValue().isEmpty()
        || value.isBoolean() && !value.booleanValue();
  }

  private static List<String> given(ObjectNode body) {
    List<String> given = new ArrayList<>();
    SAME.stream().filter(body::hasNonNull).forEach(given::add);
    FIELDS.stream().filter(body::hasNonNull).forEach(given::add);
    return given;
  }

  private static int count(ObjectNode body) {
    return given(body).size();
  }

  private static void hold(ObjectNode body, String kind, JsonNode value) {
    body.putObject("structured_outputs").set(kind, value);
  }

  /** Reads the forms of llama.cpp, Together, Fireworks, TGI, vLLM and SGLang. */
  private static void rename(ObjectNode body, ObjectNode format) {
    String type = format.path("type").asText();
    if (type.equals("structural_tag")) {
      body.remove("response_format");
      hold(body, "structural_tag", format);
      return;
    }
    JsonNode value = null;
    for (String name : VALUES) {
      value = value == null && format.hasNonNull(name) ? format.get(name) : value;
    }
    if (value == null || type.equals("json_schema") && format.hasNonNull("json_schema")) {
      return;
    }
    switch (type) {
      case "json_object", "json_schema", "json" -> {
        body.remove("response_format");
        JsonNode schema =
            value.isObject() && value.isEmpty() && type.equals("json_object")
                ? Json.object().put("type", "object")
                : value;
        hold(body, "json", schema);
      }
      case "regex" -> {
        body.remove("response_format");
        hold(body, "regex", value);
      }
      case "grammar", "ebnf" -> {
        body.remove("response_format");
        hold(body, "grammar", value);
      }
      default -> {} // refused later, with a list of the valid types
    }
  }

  /** Removes vLLM's settings for grammar compilers; they have no effect here. */
  private static void rename(ObjectNode outputs, List<String> ignored) {
    JsonNode object = outputs.remove("json_object");
    if (object != null && object.asBoolean() && !outputs.hasNonNull("json")) {
      outputs.putObject("json").put("type", "object");
    }
    outputs
        .properties()
        .removeIf(
            field -> {
              String name = field.getKey();
              boolean setting =
                  name.startsWith("disable_")
                      || name.startsWith("_backend")
                      || name.equals("whitespace_pattern");
              if (setting && !saysNothing(field.getValue())) {
                ignored.add("structured_outputs." + name);
              }
              return setting;
            });
  }
}
