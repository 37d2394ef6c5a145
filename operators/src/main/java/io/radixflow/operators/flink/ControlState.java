package io.radixflow.operators.flink;

import io.radixflow.operators.record.TierCommand;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns what control events have set: whether the job drains, how many erasures of tenants there
 * have been, and limits and tiers that differ from the configured ones. Broadcast state: every
 * subtask has the same, also after a rescale.
 */
final class ControlState {
  private static final String DRAIN = "drain";
  private static final String ERASURES = "erasures";
  private static final String SESSION_LIMIT = "max_queued_per_session";
  private static final String TENANT_LIMIT = "max_queued_per_tenant";
  private static final String QUEUE_LIMIT = "max_queued_per_taskmanager";

  private static final String TENANT_SESSIONS = "max_sessions_per_tenant";
  private static final String ALL_SESSIONS = "max_sessions_per_taskmanager";

  private static final String TIER_EVENTS = "tiers";
  private static final String HOST_SIZE = "tiers/host/size";
  private static final String DISK_SIZE = "tiers/disk/size";
  private static final String HOST_DETACHED = "tiers/host/detached";
  private static final String DISK_DETACHED = "tiers/disk/detached";

  private static final List<String> TENANT_LIMITS = List.of(TENANT_LIMIT, TENANT_SESSIONS);
  private static final List<String> ALL_LIMITS =
      List.of(SESSION_LIMIT, TENANT_LIMIT, QUEUE_LIMIT, TENANT_SESSIONS, ALL_SESSIONS);

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

  /** How many erasures of tenants there have been. */
  long erasures() throws Exception {
    String count = settings.get(ERASURES);
    return count == null ? 0 : Long.parseLong(count);
  }

  /** The number of one more erasure of a tenant. */
  long nextErasure() throws Exception {
    long number = erasures() + 1;
    settings.put(ERASURES, Long.toString(number));
    return number;
  }

  /** What events have made of the tiers. */
  TierSettings tiers() throws Exception {
    return new TierSettings(
        number(TIER_EVENTS),
        number(HOST_SIZE),
        number(DISK_SIZE),
        settings.contains(HOST_DETACHED),
        settings.contains(DISK_DETACHED));
  }

  private long number(String key) throws Exception {
    String value = settings.get(key);
    return value == null ? TierCommand.CONFIGURED : Long.parseLong(value);
  }

  void tiers(TierSettings changed) throws Exception {
    settings.put(TIER_EVENTS, Long.toString(changed.number()));
    settings.put(HOST_SIZE, Long.toString(changed.hostBytes()));
    settings.put(DISK_SIZE, Long.toString(changed.diskBytes()));
    set(HOST_DETACHED, changed.hostDetached());
    set(DISK_DETACHED, changed.diskDetached());
  }

  private void set(String key, boolean value) throws Exception {
    if (value) {
      settings.put(key, "yes");
    } else {
      settings.remove(key);
    }
  }

  int maxQueuedPerSession() throws Exception {
    return limit(SESSION_LIMIT, options.maxQueuedPerSession());
  }

  int maxQueuedPerTenant(String tenant) throws Exception {
    return limit(TENANT_LIMIT + "/" + tenant, limit(TENANT_LIMIT, options.maxQueuedPerTenant()));
  }

  int maxQueuedPerTaskManager() throws Exception {
    return limit(QUEUE_LIMIT, options.maxQueuedPerTaskManager());
  }

  int maxSessionsPerTenant(String tenant) throws Exception {
    return limit(
        TENANT_SESSIONS + "/" + tenant, limit(TENANT_SESSIONS, options.maxSessionsPerTenant()));
  }

  int maxSessionsPerTaskManager() throws Exception {
    return limit(ALL_SESSIONS, options.maxSessionsPerTaskManager());
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
