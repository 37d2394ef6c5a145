package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.event.GenerationOptionsReader;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.GenerationOptions;
import java.util.Set;

/** Reads generation options from a request with other field names than events. */
public final class GenerationFields {

  /** The fields that have the same name in events. */
  public static final Set<String> SAME =
      RequestFields.names(
          """
          temperature top_k top_p min_p repetition_penalty presence_penalty
          frequency_penalty logit_bias seed stop priority
          """);

  private GenerationFields() {}

  /** Returns options for a reply whose content is the model's whole text. */
  public static GenerationOptions asText(GenerationOptions options) {
    GenerationOptions.Builder given =
        options == null ? GenerationOptions.builder() : options.toBuilder();
    return given.separateReasoning(false).build();
  }

  /**
   * Reads the options of a request.
   *
   * @param maxTokens the request's name of max_tokens
   * @param stop the request's name of stop
   * @param topLogprobs how many alternatives each token has; -1 for no log probabilities
   * @param options receives the options; may already contain options with the names of events
   */
  public static GenerationOptions read(
      JsonObject body, String maxTokens, String stop, int topLogprobs, ObjectNode options) {
    for (String name : SAME) {
      options.set(name, body.get(name));
    }
    Long limit = GenerationOptionsReader.limit(body, maxTokens);
    if (limit != null) {
      options.put("max_tokens", limit);
    }
    options.set("stop", body.get(stop));
    if (topLogprobs >= 0) {
      options.put("logprobs", true).put("top_logprobs", topLogprobs);
    }
    return GenerationOptionsReader.read(JsonObject.of(options, "the request"));
  }
}
