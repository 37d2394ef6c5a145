package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.record.RetentionRange;
import io.radixflow.operators.record.ServiceClass;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/** Reads what an event says about the worth of its turn's cached pages. */
final class CacheHintsReader {
  static final long MAX_PIN_MILLIS = 24 * 3600 * 1000L;

  private static final Set<String> FIELDS = Set.of("no_store", "pin_ms", "retention", "generated");
  private static final Set<String> RANGE =
      Set.of("token_start", "token_count", "priority", "duration_ms");
  private static final Set<String> GENERATED = Set.of("priority", "duration_ms");

  private CacheHintsReader() {}

  /** The hints, or null if none are given. */
  static CacheHints read(JsonNode value) throws InvalidEventException {
    if (value == null) {
      return null;
    }
    Fields fields = object("cache", value, FIELDS);
    Boolean noStore = fields.bool("no_store");
    Long pin = fields.integer("pin_ms", 0, MAX_PIN_MILLIS);
    JsonNode generated = fields.get("generated");
    return new CacheHints(
        Boolean.TRUE.equals(noStore),
        pin == null ? 0 : pin,
        ranges(fields.get("retention")),
        generated == null
            ? null
            : range("cache.generated", object("cache.generated", generated, GENERATED)));
  }

  private static List<RetentionRange> ranges(JsonNode value) throws InvalidEventException {
    if (value == null) {
      return List.of();
    }
    if (!value.isArray()) {
      throw Fields.wrongType("cache.retention", value, "an array of token ranges");
    }
    if (value.size() > CacheHints.MAX_RANGES) {
      throw new InvalidEventException(
          "cache.retention has "
              + value.size()
              + " ranges, at most "
              + CacheHints.MAX_RANGES
              + " are allowed");
    }
    List<RetentionRange> ranges = new ArrayList<>(value.size());
    for (int i = 0; i < value.size(); i++) {
      String path = "cache.retention[" + i + "]";
      ranges.add(range(path, object(path, value.get(i), RANGE)));
    }
    return ranges;
  }

  private static RetentionRange range(String path, Fields fields) throws InvalidEventException {
    Long start = fields.integer("token_start", 0, Integer.MAX_VALUE - 1);
    Long length = fields.integer("token_count", 1, Integer.MAX_VALUE);
    Long priority =
        fields.integer("priority", ServiceClass.MIN_PRIORITY, ServiceClass.MAX_PRIORITY);
    Long duration = fields.integer("duration_ms", 1, Long.MAX_VALUE);
    if (priority == null) {
      throw new InvalidEventException(path + ".priority is missing");
    }
    long from = start == null ? 0 : start;
    long to = length == null ? Integer.MAX_VALUE : Math.min(Integer.MAX_VALUE, from + length);
    return new RetentionRange(
        (int) from, (int) to, priority.intValue(), duration == null ? Long.MAX_VALUE : duration);
  }

  private static Fields object(String path, JsonNode value, Set<String> allowed)
      throws InvalidEventException {
    if (!(value instanceof ObjectNode object)) {
      throw Fields.wrongType(path, value, "an object");
    }
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!allowed.contains(name)) {
        throw new InvalidEventException(path + " has the unknown field " + Texts.quote(name));
      }
    }
    return new Fields(object);
  }
}
