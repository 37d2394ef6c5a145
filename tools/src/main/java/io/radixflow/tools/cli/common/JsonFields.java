package io.radixflow.tools.cli.common;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.tools.json.LineException;
import java.util.ArrayList;
import java.util.List;

/** Typed fields of one JSON line; a missing or wrong field is a {@link LineException} by name. */
public final class JsonFields {
  private final JsonNode line;

  JsonFields(JsonNode line) {
    this.line = line;
  }

  public boolean has(String field) {
    return line.hasNonNull(field);
  }

  public String text(String field) {
    return asText(required(field), field);
  }

  public boolean bool(String field, boolean absent) {
    if (!has(field)) {
      return absent;
    }
    JsonNode value = line.get(field);
    if (!value.isBoolean()) {
      throw wrong(field, "true or false", value);
    }
    return value.booleanValue();
  }

  public double real(String field, double absent) {
    if (!has(field)) {
      return absent;
    }
    JsonNode value = line.get(field);
    if (!value.isNumber()) {
      throw wrong(field, "a number", value);
    }
    return value.doubleValue();
  }

  public long integer(String field, long absent) {
    return has(field) ? asLong(line.get(field), field) : absent;
  }

  public int integer(String field, int absent) {
    return has(field) ? asInt(line.get(field), field) : absent;
  }

  public int requiredInteger(String field) {
    return asInt(required(field), field);
  }

  public int[] integers(String field) {
    JsonNode value = array(field);
    int[] result = new int[value.size()];
    for (int i = 0; i < result.length; i++) {
      result[i] = asInt(value.get(i), field + "[" + i + "]");
    }
    return result;
  }

  /** Elements of an array; 0 if there is none. */
  public int size(String field) {
    return line.path(field).size();
  }

  /** A string, or an array of them; empty if absent. */
  public List<String> texts(String field) {
    if (!has(field)) {
      return List.of();
    }
    JsonNode value = line.get(field);
    if (value.isTextual()) {
      return List.of(value.textValue());
    }
    List<String> result = new ArrayList<>();
    for (JsonNode item : array(field)) {
      result.add(asText(item, field + "[" + result.size() + "]"));
    }
    return result;
  }

  /** Chat messages with text content, at least one. */
  public List<ChatMessage> messages(String field) {
    List<ChatMessage> result = new ArrayList<>();
    for (JsonFields message : objects(field)) {
      result.add(new ChatMessage(message.text("role"), message.text("content")));
    }
    return result;
  }

  /** An array of objects, at least one. */
  public List<JsonFields> objects(String field) {
    List<JsonFields> result = new ArrayList<>();
    for (JsonNode item : array(field)) {
      if (!item.isObject()) {
        throw wrong(field + "[" + result.size() + "]", "an object", item);
      }
      result.add(new JsonFields(item));
    }
    if (result.isEmpty()) {
      throw new LineException("'" + field + "' is empty");
    }
    return result;
  }

  /** An object, or null if absent. */
  public JsonNode object(String field) {
    if (!has(field)) {
      return null;
    }
    JsonNode value = line.get(field);
    if (!value.isObject()) {
      throw wrong(field, "an object", value);
    }
    return value;
  }

  private JsonNode array(String field) {
    JsonNode value = required(field);
    if (!value.isArray()) {
      throw wrong(field, "an array", value);
    }
    return value;
  }

  private JsonNode required(String field) {
    if (!has(field)) {
      throw new LineException("'" + field + "' is missing");
    }
    return line.get(field);
  }

  private static String asText(JsonNode value, String field) {
    if (!value.isTextual()) {
      throw wrong(field, "a string", value);
    }
    return value.textValue();
  }

  private static int asInt(JsonNode value, String field) {
    if (!value.isIntegralNumber() || !value.canConvertToInt()) {
      throw wrong(field, "a 32-bit integer", value);
    }
    return value.intValue();
  }

  private static long asLong(JsonNode value, String field) {
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw wrong(field, "a 64-bit integer", value);
    }
    return value.longValue();
  }

  private static LineException wrong(String field, String expected, JsonNode value) {
    String shown = value.toString();
    String cut = shown.length() > 40 ? shown.substring(0, 40) + "…" : shown;
    return new LineException("'" + field + "' must be " + expected + ", is " + cut);
  }
}
