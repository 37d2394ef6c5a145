package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/** Reads checked values of one JSON object; null stands for a field that is not given. */
final class Fields {

  static final int MAX_ID = 256;

  private final ObjectNode object;

  Fields(ObjectNode object) {
    this.object = object;
  }

  /** The field's value, or null if it is absent or null. */
  JsonNode get(String field) {
    JsonNode value = object.get(field);
    return value == null || value.isNull() ? null : value;
  }

  /** An id: 1 to 256 characters, no control characters. */
  String id(String field) throws InvalidEventException {
    String id = name(field);
    if (id != null && id.isEmpty()) {
      throw new InvalidEventException(
          field + " is empty, must have 1 to " + MAX_ID + " characters");
    }
    return id;
  }

  /** As {@link #id}, but may be empty. */
  String name(String field) throws InvalidEventException {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    String text = text(field, value);
    if (Texts.length(text) > MAX_ID) {
      throw new InvalidEventException(
          field + " has " + Texts.length(text) + " characters, at most " + MAX_ID + " are allowed");
    }
    if (!Texts.isPlain(text)) {
      throw new InvalidEventException(
          field + " has control characters or lone surrogates, which an id must not have");
    }
    return text;
  }

  Boolean bool(String field) throws InvalidEventException {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isBoolean()) {
      throw wrongType(field, value, "true or false");
    }
    return value.booleanValue();
  }

  Double number(String field, double min, double max) throws InvalidEventException {
    JsonNode value = get(field);
    return value == null ? null : number(field, value, min, max);
  }

  static double number(String field, JsonNode value, double min, double max)
      throws InvalidEventException {
    if (!value.isNumber()) {
      throw wrongType(field, value, "a number");
    }
    double number = value.doubleValue();
    // the negation also refuses NaN
    if (!(number >= min && number <= max)) {
      throw outOfRange(field, value, plain(min), plain(max));
    }
    return number;
  }

  Long integer(String field, long min, long max) throws InvalidEventException {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isNumber()) {
      throw wrongType(field, value, "an integer");
    }
    double approximate = value.doubleValue();
    if (!Double.isFinite(approximate) || !value.canConvertToExactIntegral()) {
      throw new InvalidEventException(field + " is " + shown(value) + ", must be an integer");
    }
    if (!value.canConvertToLong() || value.longValue() < min || value.longValue() > max) {
      throw outOfRange(field, value, Long.toString(min), Long.toString(max));
    }
    return value.longValue();
  }

  static String text(String path, JsonNode value) throws InvalidEventException {
    if (!value.isTextual()) {
      throw wrongType(path, value, "a string");
    }
    return value.textValue();
  }

  static InvalidEventException wrongType(String path, JsonNode value, String wanted) {
    String type = value.getNodeType().name().toLowerCase(Locale.ROOT);
    String article = "aeiou".indexOf(type.charAt(0)) >= 0 ? "an " : "a ";
    return new InvalidEventException(
        path + " is " + (value.isNull() ? "null" : article + type) + ", must be " + wanted);
  }

  private static InvalidEventException outOfRange(
      String field, JsonNode value, String min, String max) {
    return new InvalidEventException(
        field + " is " + shown(value) + ", must be " + min + " to " + max);
  }

  private static String shown(JsonNode number) {
    String text = number.asText();
    return text.length() <= 32 ? text : text.substring(0, 32) + "…";
  }

  private static String plain(double bound) {
    return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
  }
}
