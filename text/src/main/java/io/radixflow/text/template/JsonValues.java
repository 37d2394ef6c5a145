package io.radixflow.text.template;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;

/**
 * Reads and writes JSON texts, such as arguments of calls and schemas of tools. Values are maps
 * that keep the order of their keys, lists, strings, numbers, booleans and null. Thread-safe.
 */
public final class JsonValues {
  private static final ObjectMapper DOUBLES =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .build();

  /** Keeps numbers that do not fit into a double: 1e400 must not become infinite. */
  private static final ObjectMapper MAPPER =
      DOUBLES.copy().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private static final ObjectMapper PYTHON =
      DOUBLES.copy().configure(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS.mappedFeature(), true);

  private static final ObjectMapper SORTED =
      DOUBLES.copy().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

  private JsonValues() {}

  /** Parses an object; null if the text is not a JSON object. */
  @SuppressWarnings("unchecked")
  public static Map<String, Object> object(String text) {
    return value(text) instanceof Map<?, ?> map ? (Map<String, Object>) map : null;
  }

  /** Parses a value; null if the text is {@code null} or is not JSON. */
  public static Object value(String text) {
    return value(MAPPER, text);
  }

  /** Like {@link #value}, but allows {@code NaN} and infinite numbers, like Python's json. */
  static Object likePython(String text) {
    return value(PYTHON, text);
  }

  private static Object value(ObjectMapper mapper, String text) {
    try {
      return mapper.readValue(text, Object.class);
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  /**
   * Returns the canonical form of a JSON text, with sorted keys and without white space. Texts with
   * equal values have the same canonical form. A text that is not JSON is returned unchanged.
   */
  public static String canonical(String text) {
    Object value = value(SORTED, text);
    return value == null ? text : write(SORTED, value);
  }

  /** Writes a value without white space. Keeps the order of keys. */
  public static String write(Object value) {
    return write(MAPPER, value);
  }

  private static String write(ObjectMapper mapper, Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not a JSON value: " + value, e);
    }
  }
}
