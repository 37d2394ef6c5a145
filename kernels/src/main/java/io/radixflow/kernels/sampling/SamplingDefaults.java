package io.radixflow.kernels.sampling;

import java.util.Map;

/**
 * How the authors of a model advise to draw its tokens; null where they say nothing. What a user or
 * an operator asks for goes before it.
 */
public record SamplingDefaults(
    Double temperature, Integer topK, Double topP, Double minP, Double repetitionPenalty) {

  /** The advice of a model that has none. */
  public static final SamplingDefaults NONE = new SamplingDefaults(null, null, null, null, null);

  /**
   * @throws IllegalArgumentException if a value is out of the range of {@link SamplingParams}
   */
  public SamplingDefaults {
    new SamplingParams(
        temperature == null ? 0f : temperature.floatValue(),
        topK == null ? 0 : topK,
        topP == null ? 1f : topP.floatValue(),
        minP == null ? 0f : minP.floatValue(),
        repetitionPenalty == null ? 1f : repetitionPenalty.floatValue(),
        0f,
        0f,
        Map.of(),
        0L,
        -1);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    add(text, "temperature", temperature);
    add(text, "top_k", topK);
    add(text, "top_p", topP);
    add(text, "min_p", minP);
    add(text, "repetition_penalty", repetitionPenalty);
    return text.length() == 0 ? "temperature 1.0" : text.toString();
  }

  private static void add(StringBuilder text, String name, Number value) {
    if (value != null) {
      text.append(text.length() == 0 ? "" : ", ").append(name).append(' ').append(value);
    }
  }
}
