package io.radixflow.text;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.models.file.format.GgufMetadata;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;
import java.util.function.Function;

/** Reads the sampling parameters that a model's files recommend. */
final class SamplingAdvice {

  /** The parameters that the model card of SmolLM2 recommends. Its files have none. */
  private static final SamplingDefaults SMOLLM2 = new SamplingDefaults(0.2, null, 0.9, null, null);

  private static final String PREFIX = "general.sampling.";

  /**
   * Decimal digits that a 32-bit float keeps. A stored float means the decimal number with these
   * digits.
   */
  private static final MathContext FLOAT_DIGITS = new MathContext(7);

  private SamplingAdvice() {}

  /** Reads the keys {@code general.sampling} of a GGUF file. */
  static SamplingDefaults of(GgufMetadata metadata) {
    Function<String, Double> real =
        key -> metadata.has(PREFIX + key) ? decimal(metadata, PREFIX + key) : null;
    String topK = PREFIX + "top_k";
    SamplingDefaults read =
        checked(
            PREFIX + "*",
            real.apply("temp"),
            metadata.has(topK) ? metadata.integer(topK) : null,
            real.apply("top_p"),
            real.apply("min_p"),
            real.apply("penalty_repeat"));
    String name = metadata.has("general.name") ? metadata.string("general.name") : "";
    return read.equals(SamplingDefaults.NONE) ? ofCard(name) : read;
  }

  /**
   * Reads {@code generation_config.json}. If it turns sampling off, the temperature is 0.
   *
   * @param name the model's name
   */
  static SamplingDefaults of(JsonNode config, String name) {
    JsonNode samples = config.path("do_sample");
    boolean greedy = samples.isBoolean() && !samples.booleanValue();
    SamplingDefaults read =
        checked(
            "generation_config.json",
            greedy ? Double.valueOf(0) : real(config, "temperature"),
            config.path("top_k").isIntegralNumber() ? config.path("top_k").longValue() : null,
            real(config, "top_p"),
            real(config, "min_p"),
            real(config, "repetition_penalty"));
    return read.equals(SamplingDefaults.NONE) ? ofCard(name) : read;
  }

  private static Double decimal(GgufMetadata metadata, String key) {
    double value = metadata.real(key);
    return Double.isFinite(value) ? new BigDecimal(value).round(FLOAT_DIGITS).doubleValue() : value;
  }

  private static Double real(JsonNode config, String field) {
    return config.path(field).isNumber() ? config.path(field).doubleValue() : null;
  }

  private static SamplingDefaults checked(
      String where,
      Double temperature,
      Long topK,
      Double topP,
      Double minP,
      Double repetitionPenalty) {
    try {
      Integer most = topK == null ? null : Integer.valueOf(Math.toIntExact(Math.max(0, topK)));
      return new SamplingDefaults(temperature, most, topP, minP, repetitionPenalty);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new ModelFormatException(where + ": " + e.getMessage(), e);
    }
  }

  private static SamplingDefaults ofCard(String name) {
    boolean smol = name.toLowerCase(Locale.ROOT).startsWith("smollm2");
    return smol ? SMOLLM2 : SamplingDefaults.NONE;
  }
}
