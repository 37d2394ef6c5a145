package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.ServiceClass;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * Reads generation options from an event. The bounds equal the bounds of {@code SamplingParams}
 * after rounding to float, so that values that pass here do not fail there.
 */
public final class GenerationOptionsReader {

  static final int MAX_STOPS = 16;
  static final int MAX_STOP_LENGTH = 256;
  static final int MAX_BIASES = 1024;
  private static final double LEAST_TOP_P = 1e-6;
  private static final List<String> TRUNCATIONS = List.of("auto", "disabled");
  private static final Pattern TOKEN_ID = Pattern.compile("0|[1-9][0-9]{0,8}");

  private GenerationOptionsReader() {}

  /**
   * Reads the options that the fields give, or null if they give none.
   *
   * @throws InvalidInputException if an option is wrong
   */
  public static GenerationOptions read(JsonObject fields) {
    return read(fields, fields.has("prompt"));
  }

  /**
   * Reads the options that the fields give, or null if they give none.
   *
   * @param prompt whether the options may belong to a turn whose prompt has no chat template
   * @throws InvalidInputException if an option is wrong
   */
  public static GenerationOptions read(JsonObject fields, boolean prompt) {
    if (EventFields.OPTIONS.stream().noneMatch(fields::has)) {
      return null;
    }
    fields.integer("n", 1, 1);
    Boolean logprobs = fields.bool("logprobs");
    Long topLogprobs = fields.integer("top_logprobs", 0, 20);
    if (topLogprobs != null && !Boolean.TRUE.equals(logprobs)) {
      throw new InvalidInputException("top_logprobs needs logprobs to be true");
    }
    return new GenerationOptions(
        fields.number("temperature", 0, 2),
        topK(fields),
        topP(fields),
        fields.number("min_p", 0, 1),
        fields.number("repetition_penalty", 0.01, 10),
        fields.number("presence_penalty", -2, 2),
        fields.number("frequency_penalty", -2, 2),
        logitBias(fields),
        maxTokens(fields, prompt ? 0 : 1),
        stops(fields),
        fields.integer("seed", Long.MIN_VALUE, Long.MAX_VALUE),
        logprobs,
        toInt(topLogprobs),
        fields.bool("ignore_eos"),
        toInt(fields.integer("priority", ServiceClass.MIN_PRIORITY, ServiceClass.MAX_PRIORITY)),
        ToolOptionsReader.tools(fields),
        ToolOptionsReader.toolChoice(fields),
        fields.bool("parallel_tool_calls"),
        ToolOptionsReader.toolParser(fields),
        ToolOptionsReader.chatTemplateKwargs(fields),
        ToolOptionsReader.reasoningEffort(fields),
        toInt(fields.integer("thinking_token_budget", 0, Integer.MAX_VALUE)),
        fields.bool("separate_reasoning"),
        StructureReader.responseFormat(fields),
        StructureReader.structuredOutputs(fields),
        PredictionReader.prediction(fields),
        TokenOptionsReader.read(fields, prompt),
        continued(fields),
        fields.bool("add_generation_prompt"),
        truncation(fields));
  }

  private static Boolean continued(JsonObject fields) {
    Boolean continued = fields.bool("continue_final_message");
    if (Boolean.TRUE.equals(continued) && fields.bool("add_generation_prompt", false)) {
      throw new InvalidInputException(
          "continue_final_message and add_generation_prompt are both true: a prompt that ends with"
              + " the last message's text opens no other reply");
    }
    return continued;
  }

  /** Returns whether the oldest turns are dropped: {@code auto} or {@code disabled}. */
  private static String truncation(JsonObject fields) {
    String given = fields.text("truncation");
    if (given != null && !TRUNCATIONS.contains(given)) {
      throw JsonObject.notOneOf("truncation", given, TRUNCATIONS);
    }
    return given;
  }

  private static Integer maxTokens(JsonObject fields, int least) {
    Long tokens = limit(fields, "max_tokens", least);
    Long completion = limit(fields, "max_completion_tokens", 1);
    if (fields.has("max_tokens") && fields.has("max_completion_tokens")) {
      throw new InvalidInputException(
          "max_tokens and max_completion_tokens are two names of one limit: give one of them");
    }
    return toInt(tokens != null ? tokens : completion);
  }

  /**
   * Reads a limit of tokens. As in other servers, -1 means no limit.
   *
   * @return the limit; null if there is none
   */
  public static Long limit(JsonObject fields, String name) {
    return limit(fields, name, 1);
  }

  private static Long limit(JsonObject fields, String name, int least) {
    return isMinusOne(fields, name) ? null : fields.integer(name, least, Integer.MAX_VALUE);
  }

  /**
   * Reads a share of the probability mass. A share that is too small, such as 0, selects only the
   * most likely token.
   */
  private static Double topP(JsonObject fields) {
    Double share = fields.number("top_p", 0, 1);
    return share == null ? null : Double.valueOf(Math.max(share, LEAST_TOP_P));
  }

  /** Reads the number of tokens. As in other servers, -1 and 0 mean all tokens. */
  private static Integer topK(JsonObject fields) {
    return isMinusOne(fields, "top_k")
        ? Integer.valueOf(0)
        : toInt(fields.integer("top_k", 0, Integer.MAX_VALUE));
  }

  private static boolean isMinusOne(JsonObject fields, String name) {
    JsonNode value = fields.get(name);
    return value != null && value.isNumber() && value.doubleValue() == -1;
  }

  private static Integer toInt(Long value) {
    return value == null ? null : Math.toIntExact(value);
  }

  private static Map<Integer, Double> logitBias(JsonObject fields) {
    JsonNode value = fields.get("logit_bias");
    if (value == null) {
      return null;
    }
    if (!value.isObject()) {
      throw JsonObject.wrongType("logit_bias", value, "an object from token id to bias");
    }
    if (value.size() > MAX_BIASES) {
      throw new InvalidInputException(
          "logit_bias has " + value.size() + " entries; at most " + MAX_BIASES + " are allowed");
    }
    JsonObject given = fields.object("logit_bias");
    String wrong =
        StreamSupport.stream(given.names().spliterator(), false)
            .filter(token -> !TOKEN_ID.matcher(token).matches())
            .limit(5)
            .map(Texts::quote)
            .collect(Collectors.joining(", "));
    if (!wrong.isEmpty()) {
      throw new InvalidInputException("logit_bias has keys that are not token ids: " + wrong);
    }
    Map<Integer, Double> biases = new TreeMap<>();
    for (String token : given.names()) {
      double bias = JsonObject.number(given.path(token), value.get(token), -100, 100);
      biases.put(Integer.valueOf(token), bias);
    }
    return biases;
  }

  private static List<String> stops(JsonObject fields) {
    List<String> stops = fields.texts("stop", MAX_STOPS);
    if (stops == null) {
      return null;
    }
    for (String stop : stops) {
      int length = Texts.length(stop);
      if (length > MAX_STOP_LENGTH) {
        throw new InvalidInputException(
            "stop has a string of "
                + length
                + " characters; it must have at most "
                + MAX_STOP_LENGTH);
      }
    }
    return stops.stream().filter(stop -> !stop.isEmpty()).map(Texts::wellFormed).toList();
  }
}
