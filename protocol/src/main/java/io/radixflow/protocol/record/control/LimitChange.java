package io.radixflow.protocol.record.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The value of a {@code limits} control event: the limits that it sets, and their values. */
public final class LimitChange {
  /** Turns that a session may have running and waiting. */
  public static final String QUEUED_PER_SESSION = "max_queued_per_session";

  /** Turns that a tenant may have running and waiting on one TaskManager. */
  public static final String QUEUED_PER_TENANT = "max_queued_per_tenant";

  /** Turns that a TaskManager may have running and waiting. */
  public static final String QUEUED_PER_TASKMANAGER = "max_queued_per_taskmanager";

  /** Sessions that a tenant may have open on one TaskManager. */
  public static final String SESSIONS_PER_TENANT = "max_sessions_per_tenant";

  /** Sessions that a TaskManager may have open. */
  public static final String SESSIONS_PER_TASKMANAGER = "max_sessions_per_taskmanager";

  private static final List<String> OF_A_TENANT = List.of(QUEUED_PER_TENANT, SESSIONS_PER_TENANT);
  private static final List<String> ALL =
      List.of(
          QUEUED_PER_SESSION,
          QUEUED_PER_TENANT,
          QUEUED_PER_TASKMANAGER,
          SESSIONS_PER_TENANT,
          SESSIONS_PER_TASKMANAGER);

  private static final Pattern ENTRY = Pattern.compile(" *([a-z_]+) *= *([0-9]{0,9}) *");

  private LimitChange() {}

  /**
   * Reads {@code name=number} entries separated by commas; an entry without a number restores the
   * configured limit.
   *
   * @param tenant whose limits are set, or null for the limits of all tenants; a tenant has only
   *     the two limits that are named after it
   * @return name to number; the number is empty for the configured limit
   * @throws IllegalArgumentException if the value cannot be read; the message says why
   */
  public static Map<String, String> parse(String tenant, String value) {
    List<String> known = tenant == null ? ALL : OF_A_TENANT;
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException(
          "value is missing: limits need a value such as " + QUEUED_PER_TENANT + "=100");
    }
    Map<String, String> limits = new LinkedHashMap<>();
    for (String entry : value.split(",", -1)) {
      Matcher matcher = ENTRY.matcher(entry);
      if (!matcher.matches()) {
        throw new IllegalArgumentException("value has an entry that is not name=number");
      }
      if (!known.contains(matcher.group(1))) {
        throw new IllegalArgumentException(
            "value sets an unknown limit%s; known are %s"
                .formatted(tenant == null ? "" : " of a tenant", String.join(", ", known)));
      }
      limits.put(matcher.group(1), matcher.group(2));
    }
    return limits;
  }
}
