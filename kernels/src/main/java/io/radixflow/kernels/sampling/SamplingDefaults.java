package io.radixflow.kernels.sampling;

import java.util.Map;

/**
 * The sampling parameters that the authors of a model recommend; null if they recommend none.
 * Parameters of a user or an operator take precedence.
 */
public record SamplingDefaults(
    Double temperature, Integer topK, Double topP, Double minP, Double repetitionPenalty) {

  /** The defaults of a model without recommendations. */
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
