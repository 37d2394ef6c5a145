package io.radixflow.tools.cli.model;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.tools.cli.common.JsonFields;
import io.radixflow.tools.json.LineException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How the replies of one line are generated, by the names that events use. Greedy unless the line
 * says otherwise; without a seed the seed is 0.
 *
 * @param sampling how tokens are drawn
 * @param maxTokens limit on a reply's tokens
 * @param stop stop strings
 * @param ignoreEndOfTurn whether to go on past the end of the turn
 */
record GenerationFields(
    SamplingParams sampling, int maxTokens, List<String> stop, boolean ignoreEndOfTurn) {
  private static final int DEFAULT_MAX_TOKENS = 512;

  static GenerationFields of(JsonFields line) {
    int maxTokens = line.integer("max_tokens", DEFAULT_MAX_TOKENS);
    if (maxTokens < 1) {
      throw new LineException("'max_tokens' is " + maxTokens + ", must be at least 1");
    }
    return new GenerationFields(
        sampling(line), maxTokens, line.texts("stop"), line.bool("ignore_eos", false));
  }

  private static SamplingParams sampling(JsonFields line) {
    try {
      return new SamplingParams(
          (float) line.real("temperature", 0),
          line.integer("top_k", 0),
          (float) line.real("top_p", 1),
          (float) line.real("min_p", 0),
          (float) line.real("repetition_penalty", 1),
          (float) line.real("presence_penalty", 0),
          (float) line.real("frequency_penalty", 0),
          logitBias(line.object("logit_bias")),
          line.integer("seed", 0L),
          line.bool("logprobs", false) ? line.integer("top_logprobs", 0) : -1);
    } catch (IllegalArgumentException e) {
      throw new LineException(e.getMessage());
    }
  }

  private static Map<Integer, Float> logitBias(JsonNode biases) {
    Map<Integer, Float> result = new HashMap<>();
    if (biases == null) {
      return result;
    }
    biases
        .fields()
        .forEachRemaining(
            bias -> {
              if (!bias.getKey().matches("\\d{1,9}") || !bias.getValue().isNumber()) {
                throw new LineException("'logit_bias' must map token ids to numbers");
              }
              result.put(Integer.valueOf(bias.getKey()), bias.getValue().floatValue());
            });
    return result;
  }
}
