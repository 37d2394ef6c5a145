package io.radixflow.grammar.schema;

import io.radixflow.grammar.rule.SchemaSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Findings about a grammar's schemas from earlier attempts to compile it, and the keywords that the
 * last attempt left out of loose schemas. Use one instance per grammar; not thread-safe.
 */
public final class SchemaFindings {
  /** Thrown by an attempt that has a new finding; the next attempt uses the finding. */
  public static final class Retry extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Retry() {
      super("", null, false, false);
    }
  }

  private static final int MAX_NOTICES = 20;
  private static final int MAX_LENGTH = 300;

  private final Map<SchemaSource, Set<String>> overlapping = new HashMap<>();
  private final Map<SchemaSource, String> free = new HashMap<>();
  private final Set<SchemaSource> loose = new LinkedHashSet<>();
  private final Set<String> notices = new LinkedHashSet<>();

  /** Starts another attempt. */
  public void begin() {
    loose.clear();
    notices.clear();
  }

  /** Returns the loose schemas that the last attempt enforced. */
  public Set<SchemaSource> loose() {
    Set<SchemaSource> enforced = new LinkedHashSet<>(loose);
    enforced.removeAll(free.keySet());
    return enforced;
  }

  /** Stops enforcing a loose schema. */
  public void free(SchemaSource source, String reason) {
    free.put(source, reason);
  }

  /**
   * Returns the ignored parts of the schema, each with its reason; at most 20 texts of 300
   * characters.
   */
  public List<String> notices() {
    return notices.stream().limit(MAX_NOTICES).map(SchemaFindings::shortened).toList();
  }

  private static String shortened(String notice) {
    return notice.length() <= MAX_LENGTH ? notice : notice.substring(0, MAX_LENGTH - 1) + "…";
  }

  /** Returns whether a schema is replaced by a schema that allows any object. */
  boolean isFree(SchemaSource source) {
    if (source.loose()) {
      loose.add(source);
    }
    String reason = free.get(source);
    if (reason != null) {
      notices.add(source.subject() + ": the schema is not enforced: " + reason);
    }
    return reason != null;
  }

  void leaveOut(SchemaSource source, String reason) {
    notices.add(source.subject() + ": not enforced: " + reason);
  }

  /** Records that branches of a {@code oneOf} overlap; returns false if this was known. */
  boolean overlap(SchemaSource source, String place) {
    return overlapping.computeIfAbsent(source, s -> new HashSet<>()).add(place);
  }

  boolean overlaps(SchemaSource source, String place) {
    return overlapping.getOrDefault(source, Set.of()).contains(place);
  }
}
