package io.radixflow.operators.session;

import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.reply.ReasoningTracker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The options of a turn: its own options, then the session's, then the configuration's.
 *
 * @param sampling how tokens are drawn
 * @param maxTokens limit on generated tokens
 * @param stop stop strings; none if a grammar ends the reply
 * @param ignoreEos whether the end of the turn does not end the reply
 * @param priority priority among the tenant's turns
 * @param thinkingBudget tokens after which the engine ends the reasoning; {@link
 *     ReasoningTracker#UNLIMITED} for no limit
 * @param prompt the content of its prompt besides messages, and how its reply is read
 * @param prediction a text that the reply may repeat; null for none
 * @param tokens options for single tokens
 * @param truncation {@code auto} or {@code disabled}; null to follow the configuration
 */
public record TurnOptions(
    SamplingParams sampling,
    int maxTokens,
    List<String> stop,
    boolean ignoreEos,
    int priority,
    int thinkingBudget,
    PromptOptions prompt,
    String prediction,
    TokenOptions tokens,
    String truncation) {

  /** The temperature if neither event nor session has one. */
  private static final double TEMPERATURE = 1;

  /**
   * @param layers options in order of precedence, the strongest first; entries may be null
   * @param seed the seed if no layer has one
   * @param maxTokens the limit if no layer has one
   * @throws IllegalArgumentException if a value is out of range; the message names the field
   */
  public static TurnOptions resolve(List<GenerationOptions> layers, long seed, int maxTokens) {
    boolean logprobs = first(layers, GenerationOptions::logprobs, false);
    SamplingParams sampling =
        new SamplingParams(
            first(layers, GenerationOptions::temperature, TEMPERATURE).floatValue(),
            first(layers, GenerationOptions::topK, 0),
            first(layers, GenerationOptions::topP, 1.0).floatValue(),
            first(layers, GenerationOptions::minP, 0.0).floatValue(),
            first(layers, GenerationOptions::repetitionPenalty, 1.0).floatValue(),
            first(layers, GenerationOptions::presencePenalty, 0.0).floatValue(),
            first(layers, GenerationOptions::frequencyPenalty, 0.0).floatValue(),
            floats(first(layers, GenerationOptions::logitBias, Map.of())),
            first(layers, GenerationOptions::seed, seed),
            logprobs ? first(layers, GenerationOptions::topLogprobs, 0) : -1);
    int limit = first(layers, GenerationOptions::maxTokens, maxTokens);
    if (limit < 0) { // a prompt without a chat template may need no reply
      throw new IllegalArgumentException("max_tokens is " + limit + "; it must be at least 0");
    }
    TokenOptions tokens = TokenOptions.merged(layers);
    if (tokens.fewestTokens() > limit) {
      throw new IllegalArgumentException(
          "min_tokens is "
              + tokens.fewestTokens()
              + ", but the reply has at most "
              + limit
              + " tokens: give a larger max_tokens");
    }
    int priority = first(layers, GenerationOptions::priority, 0);
    ServiceClass.checkPriority(priority);
    List<String> stop = first(layers, GenerationOptions::stop, List.of());
    boolean ignoreEos = first(layers, GenerationOptions::ignoreEos, false);
    PromptOptions prompt = PromptOptions.resolve(layers);
    if (ignoreEos && !prompt.constraint().isFree()) {
      throw new IllegalArgumentException(
          "ignore_eos is true, but a grammar constrains the reply and decides where it ends");
    }
    int budget = first(layers, GenerationOptions::thinkingTokenBudget, ReasoningTracker.UNLIMITED);
    if (budget != ReasoningTracker.UNLIMITED
        && !prompt.separateReasoning()
        && !prompt.constraint().isFree()) {
      throw new IllegalArgumentException(
          "thinking_token_budget is set, but a reply with a grammar has no reasoning if"
              + " separate_reasoning is false");
    }
    List<String> effective = prompt.constraint().endsReply() ? List.of() : stop;
    String prediction = first(layers, GenerationOptions::prediction, null);
    return new TurnOptions(
        sampling,
        limit,
        effective,
        ignoreEos,
        priority,
        budget,
        prompt,
        prediction,
        tokens,
        first(layers, GenerationOptions::truncation, null));
  }

  /**
   * Returns whether the oldest turns of a conversation that is too long are dropped.
   *
   * @param configured the setting if neither event nor session has one
   */
  public boolean dropsOldest(Overflow configured) {
    return truncation == null ? configured == Overflow.DROP_OLDEST : truncation.equals("auto");
  }

  /**
   * Returns the field of the first layer that has it.
   *
   * @param layers entries may be null
   */
  static <T> T first(
      List<GenerationOptions> layers, Function<GenerationOptions, T> field, T fallback) {
    // not a stream, because a turn reads dozens of fields
    for (GenerationOptions layer : layers) {
      T value = layer == null ? null : field.apply(layer);
      if (value != null) {
        return value;
      }
    }
    return fallback;
  }

  private static Map<Integer, Float> floats(Map<Integer, Double> biases) {
    Map<Integer, Float> floats = new HashMap<>();
    biases.forEach((id, bias) -> floats.put(id, bias.floatValue()));
    return floats;
  }
}
