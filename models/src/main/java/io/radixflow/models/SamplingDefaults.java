package io.radixflow.models;

/**
 * The sampling parameters that the authors of a model recommend; null if they recommend none.
 * Parameters from a user or an operator take precedence.
 */
public record SamplingDefaults(
    Double temperature, Integer topK, Double topP, Double minP, Double repetitionPenalty) {

  /** The defaults of a model without recommendations. */
  public static final SamplingDefaults NONE = new SamplingDefaults(null, null, null, null, null);

  /**
   * @throws IllegalArgumentException if a value is out of range
   */
  public SamplingDefaults {
    check(
        temperature == null ? 0f : temperature.floatValue(),
        topK == null ? 0 : topK,
        topP == null ? 1f : topP.floatValue(),
        minP == null ? 0f : minP.floatValue(),
        repetitionPenalty == null ? 1f : repetitionPenalty.floatValue());
  }

  /**
   * Checks the parameters that a model's authors may recommend.
   *
   * @param temperature 0 for the arg max, else up to 100
   * @param topK 0 for off
   * @param topP in (0, 1]; 1 for off
   * @param minP in [0, 1]; 0 for off
   * @param repetitionPenalty above 0, at most 10; 1 for off
   * @throws IllegalArgumentException if a value is out of range
   */
  public static void check(
      float temperature, int topK, float topP, float minP, float repetitionPenalty) {
    require(temperature >= 0 && temperature <= 100, "temperature", temperature, "0 to 100");
    require(topK >= 0, "top_k", topK, "0 (off) or more");
    require(topP > 0 && topP <= 1, "top_p", topP, "above 0 and at most 1");
    require(minP >= 0 && minP <= 1, "min_p", minP, "0 to 1");
    require(
        repetitionPenalty > 0 && repetitionPenalty <= 10,
        "repetition_penalty",
        repetitionPenalty,
        "above 0 and at most 10");
  }

  /**
   * @throws IllegalArgumentException unless {@code valid}; the message has the field's name, its
   *     value and its range
   */
  public static void require(boolean valid, String field, Object value, String range) {
    if (!valid) {
      throw new IllegalArgumentException(field + " is " + value + "; it must be " + range);
    }
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
