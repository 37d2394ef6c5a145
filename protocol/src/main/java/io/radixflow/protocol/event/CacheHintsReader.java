package io.radixflow.protocol.event;

import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.RetentionRange;
import io.radixflow.protocol.record.ServiceClass;
import java.util.Set;

/** Reads an event's hints about how long to keep the pages of its turn. */
final class CacheHintsReader {
  static final long MAX_PIN_MILLIS = 24 * 3600 * 1000L;

  private static final Set<String> FIELDS = Set.of("no_store", "pin_ms", "retention", "generated");
  private static final Set<String> RANGE =
      Set.of("token_start", "token_count", "priority", "duration_ms");
  private static final Set<String> GENERATED = Set.of("priority", "duration_ms");

  private CacheHintsReader() {}

  /** The hints of an event, or null if none are given. */
  static CacheHints read(JsonObject event) {
    JsonObject hints = event.object("cache");
    if (hints == null) {
      return null;
    }
    hints.allow(FIELDS);
    JsonObject generated = hints.object("generated");
    return new CacheHints(
        hints.bool("no_store", false),
        hints.integer("pin_ms", 0, MAX_PIN_MILLIS, 0),
        hints.objects("retention", "token ranges", CacheHints.MAX_RANGES).stream()
            .map(range -> range(range.allow(RANGE)))
            .toList(),
        generated == null ? null : range(generated.allow(GENERATED)));
  }

  private static RetentionRange range(JsonObject range) {
    range.require("priority");
    long from = range.integer("token_start", 0, Integer.MAX_VALUE - 1, 0);
    long count = range.integer("token_count", 1, Integer.MAX_VALUE, Integer.MAX_VALUE);
    return new RetentionRange(
        (int) from,
        (int) Math.min(Integer.MAX_VALUE, from + count),
        range.integer("priority", ServiceClass.MIN_PRIORITY, ServiceClass.MAX_PRIORITY).intValue(),
        range.integer("duration_ms", 1, Long.MAX_VALUE, Long.MAX_VALUE));
  }
}
