package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.ServiceClass;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Reads generation options from an event. Bounds are those of {@code SamplingParams} after rounding
 * to float, so that nothing that passes here fails there.
 */
final class GenerationOptionsReader {

  static final int MAX_STOPS = 16;
  static final int MAX_STOP_LENGTH = 256;
  static final int MAX_BIASES = 1024;
  private static final Pattern TOKEN_ID = Pattern.compile("0|[1-9][0-9]{0,8}");

  private GenerationOptionsReader() {}

  /** The options given, or null if none is. */
  static GenerationOptions read(Fields fields) throws InvalidEventException {
    if (EventFields.OPTIONS.stream().noneMatch(name -> fields.get(name) != null)) {
      return null;
    }
    fields.integer("n", 1, 1);
    Boolean logprobs = fields.bool("logprobs");
    Long topLogprobs = fields.integer("top_logprobs", 0, 20);
    if (topLogprobs != null && !Boolean.TRUE.equals(logprobs)) {
      throw new InvalidEventException("top_logprobs needs logprobs to be true");
    }
    return new GenerationOptions(
        fields.number("temperature", 0, 2),
        toInt(fields.integer("top_k", 0, Integer.MAX_VALUE)),
        fields.number("top_p", 1e-6, 1),
        fields.number("min_p", 0, 1),
        fields.number("repetition_penalty", 0.01, 10),
        fields.number("presence_penalty", -2, 2),
        fields.number("frequency_penalty", -2, 2),
        logitBias(fields.get("logit_bias")),
        maxTokens(fields),
        stops(fields.get("stop")),
        fields.integer("seed", Long.MIN_VALUE, Long.MAX_VALUE),
        logprobs,
        toInt(topLogprobs),
        toInt(fields.integer("priority", ServiceClass.MIN_PRIORITY, ServiceClass.MAX_PRIORITY)));
  }

  private static Integer maxTokens(Fields fields) throws InvalidEventException {
    Long tokens = fields.integer("max_tokens", 1, Integer.MAX_VALUE);
    Long completion = fields.integer("max_completion_tokens", 1, Integer.MAX_VALUE);
    if (tokens != null && completion != null) {
      throw new InvalidEventException(
          "max_tokens and max_completion_tokens are two names of one limit: give one of them");
    }
    return toInt(tokens != null ? tokens : completion);
  }

  private static Integer toInt(Long value) {
    return value == null ? null : Math.toIntExact(value);
  }

  private static Map<Integer, Double> logitBias(JsonNode value) throws InvalidEventException {
    if (value == null) {
      return null;
    }
    if (!value.isObject()) {
      throw Fields.wrongType("logit_bias", value, "an object from token id to bias");
    }
    if (value.size() > MAX_BIASES) {
      throw new InvalidEventException(
          "logit_bias has " + value.size() + " entries, at most " + MAX_BIASES + " are allowed");
    }
    Map<Integer, Double> biases = new TreeMap<>();
    for (Iterator<Map.Entry<String, JsonNode>> it = value.fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> entry = it.next();
      if (!TOKEN_ID.matcher(entry.getKey()).matches()) {
        throw new InvalidEventException(
            "logit_bias has the key " + Texts.quote(entry.getKey()) + ", which is no token id");
      }
      String path = "logit_bias." + entry.getKey();
      biases.put(Integer.valueOf(entry.getKey()), Fields.number(path, entry.getValue(), -100, 100));
    }
    return biases;
  }

  private static List<String> stops(JsonNode value) throws InvalidEventException {
    if (value == null) {
      return null;
    }
    if (value.isTextual()) {
      return List.of(stop("stop", value));
    }
    if (!value.isArray()) {
      throw Fields.wrongType("stop", value, "a string or an array of strings");
    }
    if (value.size() > MAX_STOPS) {
      throw new InvalidEventException(
          "stop has " + value.size() + " strings, at most " + MAX_STOPS + " are allowed");
    }
    List<String> stops = new ArrayList<>(value.size());
    for (int i = 0; i < value.size(); i++) {
      stops.add(stop("stop[" + i + "]", value.get(i)));
    }
    return stops;
  }

  private static String stop(String path, JsonNode value) throws InvalidEventException {
    String stop = Fields.text(path, value);
    int length = Texts.length(stop);
    if (length == 0 || length > MAX_STOP_LENGTH) {
      throw new InvalidEventException(
          path + " has " + length + " characters, must have 1 to " + MAX_STOP_LENGTH);
    }
    return Texts.wellFormed(stop);
  }
}
