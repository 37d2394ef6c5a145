package io.radixflow.kernels.sampling;

import io.radixflow.models.SamplingDefaults;
import java.util.Map;

/**
 * How tokens of a reply are drawn; immutable and validated.
 *
 * <p>Order: penalties, biases, temperature, top_k (ties with the k-th token stay), top_p (a token
 * stays if the tokens ranked before it have less than top_p of the mass), min_p, softmax. The
 * repetition penalty is the one of CTRL (Keskar et al. 2019, section 4.1) over prompt and reply,
 * except that logits below 0 are multiplied instead of divided. Presence and frequency penalties
 * are computed over the reply, as in OpenAI's API.
 *
 * @param temperature 0 for the arg max (lowest id on a tie), else up to 100
 * @param topK 0 for off
 * @param topP in (0, 1]; 1 for off
 * @param minP in [0, 1]; 0 for off
 * @param repetitionPenalty above 0; 1 for off
 * @param presencePenalty in [-2, 2]
 * @param frequencyPenalty in [-2, 2]
 * @param logitBias token id to bias in [-100, 100]; empty for none
 * @param seed seed of the counter-based generator; the random bits of a draw depend only on seed
 *     and position
 * @param topLogprobs how many alternatives to report per token, 0 to 20; -1 for no log
 *     probabilities
 */
public record SamplingParams(
    float temperature,
    int topK,
    float topP,
    float minP,
    float repetitionPenalty,
    float presencePenalty,
    float frequencyPenalty,
    Map<Integer, Float> logitBias,
    long seed,
    int topLogprobs) {

  /** Takes the arg max. */
  public static final SamplingParams GREEDY =
      new SamplingParams(0f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 0L, -1);

  public SamplingParams {
    SamplingDefaults.check(temperature, topK, topP, minP, repetitionPenalty);
    SamplingDefaults.require(
        Math.abs(presencePenalty) <= 2, "presence_penalty", presencePenalty, "-2 to 2");
    SamplingDefaults.require(
        Math.abs(frequencyPenalty) <= 2, "frequency_penalty", frequencyPenalty, "-2 to 2");
    SamplingDefaults.require(
        topLogprobs >= -1 && topLogprobs <= 20, "top_logprobs", topLogprobs, "0 to 20");
    logitBias = Map.copyOf(logitBias);
    logitBias.forEach(
        (id, bias) ->
            SamplingDefaults.require(
                id >= 0 && Math.abs(bias) <= 100, "logit_bias", bias, "-100 to 100"));
  }

  /** Returns the same parameters with another seed. */
  public SamplingParams withSeed(long other) {
    return new SamplingParams(
        temperature,
        topK,
        topP,
        minP,
        repetitionPenalty,
        presencePenalty,
        frequencyPenalty,
        logitBias,
        other,
        topLogprobs);
  }
}
