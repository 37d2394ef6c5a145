package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;

/** The fields of an object in a {@code config.json}, with defaults. Errors name the field. */
record ConfigFields(JsonNode json, SupportedShapes check) {
  JsonNode get(String field) {
    return json.path(field);
  }

  boolean has(String field) {
    return present(json.path(field));
  }

  static boolean present(JsonNode node) {
    return !node.isMissingNode() && !node.isNull();
  }

  /** Returns a positive whole number. A missing field is an error. */
  int size(String field) {
    JsonNode value = json.path(field);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw check.error(field + " is missing or not a whole number");
    }
    return check.size(field, value.longValue());
  }

  int size(String field, int otherwise) {
    return has(field) ? size(field) : otherwise;
  }

  /** Returns a size; 0 if the field is 0 or null, and {@code otherwise} if it is absent. */
  int sizeOrNone(String field, int otherwise) {
    JsonNode value = json.path(field);
    boolean none = value.isNull() || value.isInt() && value.intValue() == 0;
    return none ? 0 : size(field, otherwise);
  }

  /** Returns {@code count * size}, checked like a size. */
  int checkedProduct(String field, int count, int size) {
    return check.size(field, (long) count * size);
  }

  double real(String field, double otherwise) {
    JsonNode value = json.path(field);
    if (!present(value)) {
      return otherwise;
    }
    if (!value.isNumber()) {
      throw check.error(field + " is not a number");
    }
    if (!Double.isFinite(value.doubleValue())) {
      throw check.error(field + " is " + value.asText() + "; expected a finite number");
    }
    return value.doubleValue();
  }

  /** Returns a positive, finite number. */
  float factor(String field, double otherwise) {
    return (float) positive(field, otherwise);
  }

  /** Returns a positive number within the range of floats. */
  double positive(String field, double otherwise) {
    double value = real(field, otherwise);
    if (!(value > 0 && value < Float.MAX_VALUE)) {
      throw check.error(field + " is " + value + "; expected a positive number");
    }
    return value;
  }

  boolean flag(String field, boolean otherwise) {
    JsonNode value = json.path(field);
    if (!present(value)) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw check.error(field + " is neither true nor false");
    }
    return value.booleanValue();
  }

  String text(String field, String otherwise) {
    JsonNode value = json.path(field);
    if (!present(value)) {
      return otherwise;
    }
    if (!value.isTextual()) {
      throw check.error(field + " is not a text");
    }
    return value.textValue();
  }

  /** Returns the object in a field; an empty object if the field is absent. */
  ConfigFields object(String field) {
    if (has(field) && !json.path(field).isObject()) {
      throw check.error(field + " is not an object");
    }
    return new ConfigFields(json.path(field), check);
  }

  /** Returns the fields of another object, with the same error messages. */
  ConfigFields of(JsonNode other) {
    return new ConfigFields(other, check);
  }

  boolean isObject(String field) {
    return json.path(field).isObject();
  }

  ModelFormatException unsupported(String field, String what) {
    return check.unsupported(field, what);
  }

  ModelFormatException error(String what) {
    return check.error(what);
  }
}
