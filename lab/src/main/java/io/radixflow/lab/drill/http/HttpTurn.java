package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.drill.http.HttpScript.Step;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/**
 * A request as a client gets it; the Python client gets it as JSON.
 *
 * @param chat whether it asks for a chat completion rather than a response
 * @param key the request's {@code Idempotency-Key}
 * @param body for the API
 * @param dropAfter see {@link Step}
 * @param cancelAfter see {@link Step}
 */
public record HttpTurn(boolean chat, String key, ObjectNode body, int dropAfter, int cancelAfter) {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The name that the gateways give the model. */
  public static final String MODEL = "drill";

  /**
   * Returns the request of a step.
   *
   * @param heard what was heard of the steps before it, by their index
   */
  static HttpTurn of(HttpScript script, int index, Map<Integer, Heard> heard) {
    Step step = script.steps().get(index);
    ObjectNode body = JSON.objectNode().put("model", MODEL).put("stream", step.streamed());
    body.put("temperature", step.temperature());
    if (step.seed() != null) {
      body.put("seed", step.seed());
    }
    if (script.chat()) {
      body.put("max_completion_tokens", step.maxTokens());
      body.set("messages", conversation(script, index, heard));
    } else {
      body.put("max_output_tokens", step.maxTokens()).put("input", step.input());
      body.put("instructions", HttpScript.SYSTEM);
      if (step.after() != HttpScript.NONE) {
        body.put("previous_response_id", heard.get(step.after()).id());
      }
      if (step.dropAfter() != HttpScript.NONE) {
        // the turn goes on while its client is away
        body.put("background", true);
      }
    }
    return new HttpTurn(
        script.chat(), script.key(index), body, step.dropAfter(), step.cancelAfter());
  }

  /** All that was said up to a step, as a chat's client sends it. */
  private static ArrayNode conversation(HttpScript script, int index, Map<Integer, Heard> heard) {
    Deque<Integer> path = new ArrayDeque<>();
    for (int at = index; at != HttpScript.NONE; at = script.steps().get(at).after()) {
      path.push(at);
    }
    ArrayNode messages = JSON.arrayNode();
    messages.addObject().put("role", "system").put("content", HttpScript.SYSTEM);
    for (int at : path) {
      String input = script.steps().get(at).input();
      messages.addObject().put("role", "user").put("content", input);
      if (at != index) {
        messages.addObject().put("role", "assistant").put("content", heard.get(at).text());
      }
    }
    return messages;
  }
}
