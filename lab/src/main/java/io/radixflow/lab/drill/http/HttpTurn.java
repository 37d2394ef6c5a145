package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.drill.http.HttpScript.Step;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * A request for a client; the Python client gets it as JSON.
 *
 * @param chat true for a chat completion, false for a response
 * @param key the request's {@code Idempotency-Key}
 * @param body body of the request
 * @param dropAfter see {@link Step}
 * @param cancelAfter see {@link Step}
 */
public record HttpTurn(boolean chat, String key, ObjectNode body, int dropAfter, int cancelAfter) {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The gateways' name of the model. */
  public static final String MODEL = "drill";

  /**
   * Returns the request of a step.
   *
   * @param heard the replies to earlier steps, by their index
   */
  static HttpTurn of(HttpScript script, int index, Map<Integer, Heard> heard) {
    Step step = script.steps().get(index);
    ObjectNode body = JSON.objectNode().put("model", MODEL).put("stream", step.streamed());
    body.put("temperature", step.temperature());
    if (step.seed() != null) {
      body.put("seed", step.seed());
    }
    step.form().addTo(body, script.chat());
    List<ToolCall> open =
        step.after() == HttpScript.NONE ? List.of() : heard.get(step.after()).calls();
    if (script.chat()) {
      body.put("max_completion_tokens", step.maxTokens());
      body.set("messages", conversation(script, index, heard));
    } else {
      body.put("max_output_tokens", step.maxTokens());
      body.set("input", input(step, open));
      body.put("instructions", HttpScript.SYSTEM);
      if (step.after() != HttpScript.NONE) {
        body.put("previous_response_id", heard.get(step.after()).id());
      }
      if (step.dropAfter() != HttpScript.NONE) {
        // the turn continues while its client is away
        body.put("background", true);
      }
    }
    return new HttpTurn(
        script.chat(), script.key(index), body, step.dropAfter(), step.cancelAfter());
  }

  /** Returns the new input: results of calls come first. */
  private static JsonNode input(Step step, List<ToolCall> open) {
    if (open.isEmpty()) {
      return JSON.textNode(step.input());
    }
    ArrayNode items = JSON.arrayNode();
    for (ToolCall call : open) {
      items
          .addObject()
          .put("type", "function_call_output")
          .put("call_id", call.id())
          .put("output", TurnForm.result(call));
    }
    if (step.form().hasTools()) {
      items.addObject().put("role", "user").put("content", step.input());
    }
    return items;
  }

  /** Returns the whole conversation up to a step, as a chat's client sends it. */
  private static ArrayNode conversation(HttpScript script, int index, Map<Integer, Heard> heard) {
    Deque<Integer> path = new ArrayDeque<>();
    for (int at = index; at != HttpScript.NONE; at = script.steps().get(at).after()) {
      path.push(at);
    }
    ArrayNode messages = JSON.arrayNode();
    messages.addObject().put("role", "system").put("content", HttpScript.SYSTEM);
    List<ToolCall> open = List.of();
    for (int at : path) {
      Step step = script.steps().get(at);
      for (ToolCall call : open) {
        ObjectNode result = messages.addObject().put("role", "tool");
        result.put("tool_call_id", call.id()).put("content", TurnForm.result(call));
      }
      if (open.isEmpty() || step.form().hasTools()) {
        messages.addObject().put("role", "user").put("content", step.input());
      }
      if (at != index) {
        messages.add(said(heard.get(at)));
        open = heard.get(at).calls();
      }
    }
    return messages;
  }

  private static ObjectNode said(Heard reply) {
    ObjectNode message = JSON.objectNode().put("role", "assistant");
    boolean onlyCalls = reply.text().isEmpty() && !reply.calls().isEmpty();
    message.put("content", onlyCalls ? null : reply.text());
    for (ToolCall call : reply.calls()) {
      ObjectNode node = message.withArray("tool_calls").addObject();
      node.put("id", call.id()).put("type", "function");
      node.putObject("function").put("name", call.name()).put("arguments", call.arguments());
    }
    return message;
  }
}
