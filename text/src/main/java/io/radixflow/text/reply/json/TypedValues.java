package io.radixflow.text.reply.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.util.Locale;
import java.util.Set;

/** Converts a value that a model wrote as plain text to JSON of the type that a schema requires. */
public final class TypedValues {

  private static final ObjectReader READER =
      new ObjectMapper().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private TypedValues() {}

  /**
   * Appends a value as JSON. It is appended as it is written if that is JSON of an allowed type,
   * otherwise as a string.
   *
   * @param types names of the allowed JSON types; empty to allow any
   */
  public static void append(StringBuilder out, String text, Set<String> types) {
    String value = text.strip();
    String lower = value.toLowerCase(Locale.ROOT);
    boolean word = lower.equals("true") || lower.equals("false") || lower.equals("none");
    String json = !word ? value : lower.equals("none") ? "null" : lower;
    out.append(isJson(json, types) ? json : JsonStrings.quote(text));
  }

  private static boolean isJson(String text, Set<String> types) {
    if (text.isEmpty()) {
      return false;
    }
    JsonNode node;
    try {
      node = READER.readTree(text);
    } catch (JsonProcessingException e) {
      return false;
    }
    return switch (node.getNodeType()) {
      case OBJECT -> allows(types, "object");
      case ARRAY -> allows(types, "array");
      case BOOLEAN -> allows(types, "boolean");
      case NULL -> allows(types, "null");
      case NUMBER -> allows(types, "number") || types.contains("integer") && isInteger(node);
      default -> false;
    };
  }

  private static boolean isInteger(JsonNode number) {
    return number.isIntegralNumber() || number.doubleValue() == Math.rint(number.doubleValue());
  }

  private static boolean allows(Set<String> types, String type) {
    return types.isEmpty() || types.contains(type);
  }
}
