package io.radixflow.protocol.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;

/**
 * Limits of JSON that another process sends. The caller bounds the bytes, and with them the length
 * of texts.
 *
 * @param depth nested objects and arrays
 * @param tokens names, values and brackets
 * @param name chars of a field's name
 * @param number chars of a number
 */
public record JsonLimits(int depth, int tokens, int name, int number) {
  /** The body of a request to the gateway. */
  public static final JsonLimits BODY = new JsonLimits(256, 500_000, 1024, 400);

  /** A conversation event. Events of the gateway add two levels to a body. */
  public static final JsonLimits EVENT = new JsonLimits(BODY.depth + 2, 300_000, 512, 400);

  /** A control event. */
  public static final JsonLimits CONTROL = new JsonLimits(8, 20_000, 512, 400);

  /** A KV event, with the token ids of its page. */
  public static final JsonLimits KV_EVENT = new JsonLimits(8, 1 << 21, 512, 400);

  /**
   * Returns a mapper that reads within the limits. It refuses a field that an object has twice, and
   * text after the value. It reads words such as {@code NaN} as numbers, so that the caller can
   * name the field.
   */
  public JsonMapper mapper() {
    JsonFactory factory =
        JsonFactory.builder()
            // the sender chooses the names and their number
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(depth)
                    .maxTokenCount(tokens)
                    .maxNameLength(name)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNumberLength(number)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();
    return JsonMapper.builder(factory)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build();
  }
}
