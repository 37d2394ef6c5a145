package io.radixflow.operators.record;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Generation options of a turn or a session's defaults; null means not given. A Flink POJO; ranges
 * are checked where events are parsed and again by {@code SamplingParams}.
 *
 * @param temperature see {@code SamplingParams}, as for the fields that follow
 * @param maxTokens limit on the reply's tokens
 * @param stop stop strings
 * @param seed of the random generator; without one a hash of session, turn and regeneration
 * @param logprobs whether to report log probabilities
 * @param topLogprobs how many alternatives a token
 * @param priority among the tenant's turns; see {@code ServiceClass}
 */
public record GenerationOptions(
    Double temperature,
    Integer topK,
    Double topP,
    Double minP,
    Double repetitionPenalty,
    Double presencePenalty,
    Double frequencyPenalty,
    Map<Integer, Double> logitBias,
    Integer maxTokens,
    List<String> stop,
    Long seed,
    Boolean logprobs,
    Integer topLogprobs,
    Integer priority)
    implements Serializable {

  /** Always the likeliest token, so many of them at most, and nothing else given. */
  public static GenerationOptions greedy(int maxTokens) {
    return new GenerationOptions(
        0.0, null, null, null, null, null, null, null, maxTokens, null, null, null, null, null);
  }
}
