package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/**
 * One record of a workload's file, with its place for errors.
 *
 * @param file name of the file
 * @param number of the line, from 1
 * @param time milliseconds since the epoch as the log has it, or -1
 * @param bytes the JSON as it was read
 * @param json the same, parsed
 */
record WorkloadLine(String file, long number, long time, byte[] bytes, ObjectNode json) {

  WorkloadException error(String message) {
    return new WorkloadException(file + ", line " + number + ": " + message);
  }

  /** A field that is an array. */
  JsonNode array(String field) throws WorkloadException {
    JsonNode value = required(field);
    if (!value.isArray()) {
      throw wrong(field, "an array", value);
    }
    return value;
  }

  /** A field that is an integer from {@code min} to {@code max}. */
  long integer(String field, long min, long max) throws WorkloadException {
    return integer(field, required(field), min, max);
  }

  /** The same of an array's element, which {@code name} names. */
  long integer(String name, JsonNode value, long min, long max) throws WorkloadException {
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < min
        || value.longValue() > max) {
      throw wrong(name, "an integer from " + min + " to " + max, value);
    }
    return value.longValue();
  }

  /** A field that is a finite number of at least 0. */
  double seconds(String field) throws WorkloadException {
    JsonNode value = required(field);
    if (!value.isNumber()
        || !(value.doubleValue() >= 0)
        || Double.isInfinite(value.doubleValue())) {
      throw wrong(field, "a number of seconds, 0 or more", value);
    }
    return value.doubleValue();
  }

  private JsonNode required(String field) throws WorkloadException {
    JsonNode value = json.get(field);
    if (value == null || value.isNull()) {
      throw error("'" + field + "' is missing");
    }
    return value;
  }

  private WorkloadException wrong(String name, String expected, JsonNode value) {
    String shown =
        value.isContainerNode()
            ? value.getNodeType().name().toLowerCase(Locale.ROOT)
            : value.toString();
    String cut = shown.length() > 40 ? shown.substring(0, 40) + "…" : shown;
    return error("'" + name + "' must be " + expected + ", is " + cut);
  }
}
