package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.jobs.event.GenerationOptionsReader;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.operators.record.GenerationOptions;
import java.util.Set;

/** Reads how text is generated from a request whose names for it are not those of events. */
public final class GenerationFields {

  /** The names that are those of events. */
  public static final Set<String> SAME =
      Set.of(
          "temperature",
          "top_k",
          "top_p",
          "min_p",
          "repetition_penalty",
          "presence_penalty",
          "frequency_penalty",
          "logit_bias",
          "seed",
          "stop",
          "priority");

  private GenerationFields() {}

  /** Returns options of a reply that is content alone, with all that the model writes. */
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
   * @param options others, which have the names of events already; it is added to
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
