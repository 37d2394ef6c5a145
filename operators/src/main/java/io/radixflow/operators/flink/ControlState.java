package io.radixflow.operators.flink;

import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns what control events have set: whether the job drains, and limits that differ from the
 * configured ones. Broadcast state: every subtask has the same, also after a rescale.
 */
final class ControlState {
  private static final String DRAIN = "drain";
  private static final String SESSION_LIMIT = "max_queued_per_session";
  private static final String TENANT_LIMIT = "max_queued_per_tenant";
  private static final String SUBTASK_LIMIT = "max_queued_per_subtask";

  private static final String TENANT_SESSIONS = "max_sessions_per_tenant";
  private static final String SUBTASK_SESSIONS = "max_sessions_per_subtask";

  private static final List<String> TENANT_LIMITS = List.of(TENANT_LIMIT, TENANT_SESSIONS);
  private static final List<String> ALL_LIMITS =
      List.of(SESSION_LIMIT, TENANT_LIMIT, SUBTASK_LIMIT, TENANT_SESSIONS, SUBTASK_SESSIONS);

  private final BroadcastState<String, String> settings;
  private final ServingOptions options;

  ControlState(OperatorStateStore store, ServingOptions options) throws Exception {
    this.settings =
        store.getBroadcastState(new MapStateDescriptor<>("control", Types.STRING, Types.STRING));
    this.options = options;
  }

  /** Whether new turns are refused. */
  boolean isDraining() throws Exception {
    return settings.contains(DRAIN);
  }

  /**
   * @param value {@code off} to take turns again; anything else, also null, to drain
   */
  void drain(String value) throws Exception {
    if ("off".equals(value)) {
      settings.remove(DRAIN);
    } else {
      settings.put(DRAIN, "on");
    }
  }

  int maxQueuedPerSession() throws Exception {
    return limit(SESSION_LIMIT, options.maxQueuedPerSession());
  }

  int maxQueuedPerTenant(String tenant) throws Exception {
    return limit(TENANT_LIMIT + "/" + tenant, limit(TENANT_LIMIT, options.maxQueuedPerTenant()));
  }

  int maxQueuedPerSubtask() throws Exception {
    return limit(SUBTASK_LIMIT, options.maxQueuedPerSubtask());
  }

  int maxSessionsPerTenant(String tenant) throws Exception {
    return limit(
        TENANT_SESSIONS + "/" + tenant, limit(TENANT_SESSIONS, options.maxSessionsPerTenant()));
  }

  int maxSessionsPerSubtask() throws Exception {
    return limit(SUBTASK_SESSIONS, options.maxSessionsPerSubtask());
  }

  /**
   * Sets limits, {@code name=number} separated by commas; of a tenant only its queue and its
   * sessions can be limited. An empty number takes the limit back.
   *
   * @throws RefusedException if the value cannot be read; nothing is changed then
   */
  void limits(String tenant, String value) throws Exception {
    if (value == null || value.isBlank()) {
      throw new RefusedException("limits need a value such as " + TENANT_LIMIT + "=100");
    }
    String[] entries = value.split(",", -1);
    for (String entry : entries) {
      check(tenant, entry.strip());
    }
    for (String entry : entries) {
      int equals = entry.indexOf('=');
      String name = entry.substring(0, equals).strip();
      String number = entry.substring(equals + 1).strip();
      String key = tenant == null ? name : name + "/" + tenant;
      if (number.isEmpty()) {
        settings.remove(key);
      } else {
        settings.put(key, number);
      }
    }
  }

  private static void check(String tenant, String entry) throws RefusedException {
    if (!entry.matches("[a-z_]+ *= *\\d{0,9}")) {
      throw new RefusedException("'" + entry + "' is not name=number");
    }
    String name = entry.substring(0, entry.indexOf('=')).strip();
    List<String> known = tenant == null ? ALL_LIMITS : TENANT_LIMITS;
    if (!known.contains(name)) {
      throw new RefusedException(
          "'%s' is no limit%s; known are %s"
              .formatted(name, tenant == null ? "" : " of a tenant", String.join(", ", known)));
    }
  }

  private int limit(String key, int configured) throws Exception {
    String value = settings.get(key);
    return value == null ? configured : Integer.parseInt(value);
  }
}
