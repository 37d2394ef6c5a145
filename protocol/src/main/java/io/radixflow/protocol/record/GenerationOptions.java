package io.radixflow.protocol.record;

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
 * @param seed seed of the random generator; without one a hash of session, turn and regeneration
 * @param logprobs whether to report log probabilities
 * @param topLogprobs number of alternatives per token
 * @param ignoreEos whether a reply continues after the end of the turn, up to its limit
 * @param priority priority among the tenant's turns; see {@code ServiceClass}
 * @param tools definitions of the tools that a reply may call, a JSON array without white space
 * @param toolChoice {@code auto}, {@code none}, {@code required}, or the function to be called or
 *     the functions that may be, a JSON object without white space
 * @param parallelToolCalls whether a reply may have several calls
 * @param toolParser name of the format in which the model writes calls
 * @param chatTemplateKwargs further variables of the chat template, a JSON object without white
 *     space
 * @param reasoningEffort the reasoning effort, in the terms of the chat template
 * @param thinkingTokenBudget tokens of reasoning after which the engine ends it; 0 for none
 * @param separateReasoning whether reasoning is a separate part; if not, it is content, with its
 *     marks as generated
 * @param responseFormat the form of the reply's content as in the OpenAI API, a JSON object without
 *     white space
 * @param structuredOutputs the grammar of the reply's content, a JSON object without white space;
 *     not together with {@code responseFormat}
 * @param prediction a text that the reply may repeat, which makes the reply faster and changes
 *     nothing else
 * @param tokens options for single tokens
 * @param continueFinalMessage whether the prompt ends with the text of the last message, which is
 *     the assistant's and which the reply continues
 * @param addGenerationPrompt whether the prompt ends with the opening of a reply
 * @param truncation {@code auto} or {@code disabled}: whether the oldest turns of a conversation
 *     that is too long are dropped
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
    Boolean ignoreEos,
    Integer priority,
    String tools,
    String toolChoice,
    Boolean parallelToolCalls,
    String toolParser,
    String chatTemplateKwargs,
    String reasoningEffort,
    Integer thinkingTokenBudget,
    Boolean separateReasoning,
    String responseFormat,
    String structuredOutputs,
    String prediction,
    TokenOptions tokens,
    Boolean continueFinalMessage,
    Boolean addGenerationPrompt,
    String truncation)
    implements Serializable {

  /** Returns options that always take the likeliest token. */
  public static GenerationOptions greedy(int maxTokens) {
    return builder().temperature(0.0).maxTokens(maxTokens).build();
  }

  /** Returns a builder without any option. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns whether the reply continues the last message. */
  public boolean continuesMessage() {
    return Boolean.TRUE.equals(continueFinalMessage);
  }

  /** Returns a builder initialised from these options. */
  public Builder toBuilder() {
    return builder()
        .temperature(temperature)
        .topK(topK)
        .topP(topP)
        .minP(minP)
        .repetitionPenalty(repetitionPenalty)
        .presencePenalty(presencePenalty)
        .frequencyPenalty(frequencyPenalty)
        .logitBias(logitBias)
        .maxTokens(maxTokens)
        .stop(stop)
        .seed(seed)
        .logprobs(logprobs)
        .topLogprobs(topLogprobs)
        .ignoreEos(ignoreEos)
        .priority(priority)
        .tools(tools)
        .toolChoice(toolChoice)
        .parallelToolCalls(parallelToolCalls)
        .toolParser(toolParser)
        .chatTemplateKwargs(chatTemplateKwargs)
        .reasoningEffort(reasoningEffort)
        .thinkingTokenBudget(thinkingTokenBudget)
        .separateReasoning(separateReasoning)
        .responseFormat(responseFormat)
        .structuredOutputs(structuredOutputs)
        .prediction(prediction)
        .tokens(tokens)
        .continueFinalMessage(continueFinalMessage)
        .addGenerationPrompt(addGenerationPrompt)
        .truncation(truncation);
  }

  /** Builds options; each method sets the component of its name, null for not given. */
  public static final class Builder {
    private Double temperature;
    private Integer topK;
    private Double topP;
    private Double minP;
    private Double repetitionPenalty;
    private Double presencePenalty;
    private Double frequencyPenalty;
    private Map<Integer, Double> logitBias;
    private Integer maxTokens;
    private List<String> stop;
    private Long seed;
    private Boolean logprobs;
    private Integer topLogprobs;
    private Boolean ignoreEos;
    private Integer priority;
    private String tools;
    private String toolChoice;
    private Boolean parallelToolCalls;
    private String toolParser;
    private String chatTemplateKwargs;
    private String reasoningEffort;
    private Integer thinkingTokenBudget;
    private Boolean separateReasoning;
    private String responseFormat;
    private String structuredOutputs;
    private String prediction;
    private TokenOptions tokens;
    private Boolean continueFinalMessage;
    private Boolean addGenerationPrompt;
    private String truncation;

    private Builder() {}

    public Builder temperature(Double temperature) {
      this.temperature = temperature;
      return this;
    }

    public Builder topK(Integer topK) {
      this.topK = topK;
      return this;
    }

    public Builder topP(Double topP) {
      this.topP = topP;
      return this;
    }

    public Builder minP(Double minP) {
      this.minP = minP;
      return this;
    }

    public Builder repetitionPenalty(Double repetitionPenalty) {
      this.repetitionPenalty = repetitionPenalty;
      return this;
    }

    public Builder presencePenalty(Double presencePenalty) {
      this.presencePenalty = presencePenalty;
      return this;
    }

    public Builder frequencyPenalty(Double frequencyPenalty) {
      this.frequencyPenalty = frequencyPenalty;
      return this;
    }

    public Builder logitBias(Map<Integer, Double> logitBias) {
      this.logitBias = logitBias;
      return this;
    }

    public Builder maxTokens(Integer maxTokens) {
      this.maxTokens = maxTokens;
      return this;
    }

    public Builder stop(List<String> stop) {
      this.stop = stop;
      return this;
    }

    public Builder seed(Long seed) {
      this.seed = seed;
      return this;
    }

    public Builder logprobs(Boolean logprobs) {
      this.logprobs = logprobs;
      return this;
    }

    public Builder topLogprobs(Integer topLogprobs) {
      this.topLogprobs = topLogprobs;
      return this;
    }

    public Builder ignoreEos(Boolean ignoreEos) {
      this.ignoreEos = ignoreEos;
      return this;
    }

    public Builder priority(Integer priority) {
      this.priority = priority;
      return this;
    }

    public Builder tools(String tools) {
      this.tools = tools;
      return this;
    }

    public Builder toolChoice(String toolChoice) {
      this.toolChoice = toolChoice;
      return this;
    }

    public Builder toolParser(String toolParser) {
      this.toolParser = toolParser;
      return this;
    }

    public Builder chatTemplateKwargs(String chatTemplateKwargs) {
      this.chatTemplateKwargs = chatTemplateKwargs;
      return this;
    }

    public Builder reasoningEffort(String reasoningEffort) {
      this.reasoningEffort = reasoningEffort;
      return this;
    }

    public Builder thinkingTokenBudget(Integer thinkingTokenBudget) {
      this.thinkingTokenBudget = thinkingTokenBudget;
      return this;
    }

    public Builder separateReasoning(Boolean separateReasoning) {
      this.separateReasoning = separateReasoning;
      return this;
    }

    public Builder parallelToolCalls(Boolean parallelToolCalls) {
      this.parallelToolCalls = parallelToolCalls;
      return this;
    }

    public Builder responseFormat(String responseFormat) {
      this.responseFormat = responseFormat;
      return this;
    }

    public Builder structuredOutputs(String structuredOutputs) {
      this.structuredOutputs = structuredOutputs;
      return this;
    }

    public Builder prediction(String prediction) {
      this.prediction = prediction;
      return this;
    }

    public Builder tokens(TokenOptions tokens) {
      this.tokens = tokens;
      return this;
    }

    public Builder continueFinalMessage(Boolean continueFinalMessage) {
      this.continueFinalMessage = continueFinalMessage;
      return this;
    }

    public Builder addGenerationPrompt(Boolean addGenerationPrompt) {
      this.addGenerationPrompt = addGenerationPrompt;
      return this;
    }

    public Builder truncation(String truncation) {
      this.truncation = truncation;
      return this;
    }

    public GenerationOptions build() {
      return new GenerationOptions(
          temperature,
          topK,
          topP,
          minP,
          repetitionPenalty,
          presencePenalty,
          frequencyPenalty,
          logitBias,
          maxTokens,
          stop,
          seed,
          logprobs,
          topLogprobs,
          ignoreEos,
          priority,
          tools,
          toolChoice,
          parallelToolCalls,
          toolParser,
          chatTemplateKwargs,
          reasoningEffort,
          thinkingTokenBudget,
          separateReasoning,
          responseFormat,
          structuredOutputs,
          prediction,
          tokens,
          continueFinalMessage,
          addGenerationPrompt,
          truncation);
    }
  }
}
