package io.radixflow.cli.command.model;

import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The generation options of one line, with the names that events use. Sampling is greedy unless the
 * line says otherwise; the default seed is 0.
 *
 * @param sampling how tokens are drawn
 * @param maxTokens limit on a reply's tokens
 * @param stop stop strings
 * @param ignoreEndOfTurn whether to continue after the end of the turn
 */
record GenerateSettings(
    SamplingParams sampling, int maxTokens, List<String> stop, boolean ignoreEndOfTurn) {
  private static final int DEFAULT_MAX_TOKENS = 512;

  static GenerateSettings of(JsonObject line) {
    int maxTokens = line.integer("max_tokens", DEFAULT_MAX_TOKENS);
    if (maxTokens < 1) {
      throw new InvalidInputException("max_tokens is " + maxTokens + "; it must be at least 1");
    }
    return new GenerateSettings(
        sampling(line),
        maxTokens,
        Objects.requireNonNullElse(line.texts("stop", Integer.MAX_VALUE), List.of()),
        line.bool("ignore_eos", false));
  }

  private static SamplingParams sampling(JsonObject line) {
    try {
      return new SamplingParams(
          (float) line.number("temperature", 0),
          line.integer("top_k", 0),
          (float) line.number("top_p", 1),
          (float) line.number("min_p", 0),
          (float) line.number("repetition_penalty", 1),
          (float) line.number("presence_penalty", 0),
          (float) line.number("frequency_penalty", 0),
          logitBias(line.object("logit_bias")),
          line.integer("seed", Long.MIN_VALUE, Long.MAX_VALUE, 0),
          line.bool("logprobs", false) ? line.integer("top_logprobs", 0) : -1);
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(e.getMessage());
    }
  }

  private static Map<Integer, Float> logitBias(JsonObject biases) {
    Map<Integer, Float> result = new HashMap<>();
    if (biases == null) {
      return result;
    }
    for (String token : biases.names()) {
      if (!token.matches("\\d{1,9}") || !biases.has(token)) {
        throw new InvalidInputException("logit_bias must map token ids to numbers");
      }
      result.put(Integer.valueOf(token), (float) biases.number(token, 0));
    }
    return result;
  }
}
