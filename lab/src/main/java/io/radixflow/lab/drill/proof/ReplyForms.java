package io.radixflow.lab.drill.proof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.ToolCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks that replies have the form that their turns require: content that matches its schema, and
 * tool calls whose arguments match theirs. A cut reply may have only the beginning of either.
 */
final class ReplyForms {
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final JsonSchemaFactory FACTORY =
      JsonSchemaFactory.getInstance(VersionFlag.V202012);
  private static final List<String> CHOICES = List.of("auto", "none");

  private final Map<JsonNode, JsonSchema> schemas = new HashMap<>();
  private int contents;
  private int calls;

  /** Returns how many contents matched their schema. */
  int contents() {
    return contents;
  }

  /** Returns how many calls had arguments that matched their schema. */
  int calls() {
    return calls;
  }

  /**
   * Returns the fault of a reply, or null if there is none.
   *
   * @param options options of its turn, or null
   */
  String fault(GenerationOptions options, Reply reply) {
    if (options == null) {
      return null;
    }
    boolean whole =
        reply.finishReason().equals("stop") || reply.finishReason().equals("tool_calls");
    String fault = options.tools() == null ? null : fault(options, reply, whole);
    if (fault == null && options.responseFormat() != null && reply.finishReason().equals("stop")) {
      JsonNode schema = read(options.responseFormat()).at("/json_schema/schema");
      fault = fault(schema, reply.text());
      contents += fault == null ? 1 : 0;
    }
    return fault;
  }

  private String fault(GenerationOptions options, Reply reply, boolean whole) {
    List<ToolCall> made = reply.toolCalls();
    String choice = options.toolChoice();
    boolean required = choice != null && !CHOICES.contains(choice);
    if (whole && required && (!reply.text().isBlank() || made.isEmpty())) {
      return "'" + reply.text() + "' instead of the required call";
    }
    if (Boolean.FALSE.equals(options.parallelToolCalls()) && made.size() > 1) {
      return made.size() + " calls, but only one was allowed";
    }
    String named =
        required && choice.startsWith("{") ? read(choice).at("/function/name").asText() : null;
    Map<String, JsonNode> tools = new HashMap<>();
    for (JsonNode tool : read(options.tools())) {
      tools.put(tool.at("/function/name").asText(), tool.at("/function/parameters"));
    }
    for (int i = 0; i < made.size(); i++) {
      ToolCall call = made.get(i);
      if (!tools.containsKey(call.name()) || named != null && !named.equals(call.name())) {
        return "a call of " + call.name() + ", which must not be called";
      }
      if (whole || i + 1 < made.size()) {
        String fault = fault(tools.get(call.name()), call.arguments());
        if (fault != null) {
          return fault;
        }
        calls++;
      }
    }
    return null;
  }

  private String fault(JsonNode schema, String text) {
    try {
      var messages =
          schemas.computeIfAbsent(schema, FACTORY::getSchema).validate(JSON.readTree(text));
      return messages.isEmpty() ? null : "'" + text + "' does not match its schema: " + messages;
    } catch (JsonProcessingException e) {
      return "'" + text + "' is not JSON: " + e.getOriginalMessage();
    }
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("an option that was sent is not JSON: " + json, e);
    }
  }
}
