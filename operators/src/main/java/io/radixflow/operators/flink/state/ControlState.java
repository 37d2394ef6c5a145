package io.radixflow.operators.flink.state;

import io.radixflow.operators.flink.engine.TierSettings;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.control.LimitChange;
import io.radixflow.protocol.record.control.TierCommand;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns the settings of control events: whether the job drains, the number of erasures of tenants,
 * and limits and tiers that differ from the configured values. It is broadcast state: every subtask
 * has the same, even after a rescale.
 */
public final class ControlState {
  private static final String DRAIN = "drain";
  private static final String ERASURES = "erasures";
  private static final String TIER_EVENTS = "tiers";
  private static final String HOST_SIZE = "tiers/host/size";
  private static final String DISK_SIZE = "tiers/disk/size";
  private static final String HOST_DETACHED = "tiers/host/detached";
  private static final String DISK_DETACHED = "tiers/disk/detached";

  private final BroadcastState<String, String> settings;
  private final ServingOptions options;

  public ControlState(OperatorStateStore store, ServingOptions options) throws Exception {
    this.settings =
        store.getBroadcastState(new MapStateDescriptor<>("control", Types.STRING, Types.STRING));
    this.options = options;
  }

  /** Returns whether new turns are refused. */
  public boolean isDraining() throws Exception {
    return settings.contains(DRAIN);
  }

  /**
   * @param value {@code off} to accept turns again; anything else, including null, to drain
   */
  public void drain(String value) throws Exception {
    if ("off".equals(value)) {
      settings.remove(DRAIN);
    } else {
      settings.put(DRAIN, "on");
    }
  }

  /** Returns the number of erasures of tenants so far. */
  public long erasures() throws Exception {
    String count = settings.get(ERASURES);
    return count == null ? 0 : Long.parseLong(count);
  }

  /** Counts one more erasure of a tenant and returns its number. */
  public long nextErasure() throws Exception {
    long number = erasures() + 1;
    settings.put(ERASURES, Long.toString(number));
    return number;
  }

  /** Returns the settings of the tiers after all control events so far. */
  public TierSettings tiers() throws Exception {
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

  public void tiers(TierSettings changed) throws Exception {
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

  public int maxQueuedPerSession() throws Exception {
    return limit(LimitChange.QUEUED_PER_SESSION, options.limits().maxQueuedPerSession());
  }

  public int maxQueuedPerTenant(String tenant) throws Exception {
    return limit(
        LimitChange.QUEUED_PER_TENANT + "/" + tenant,
        limit(LimitChange.QUEUED_PER_TENANT, options.limits().maxQueuedPerTenant()));
  }

  public int maxQueuedPerTaskManager() throws Exception {
    return limit(LimitChange.QUEUED_PER_TASKMANAGER, options.limits().maxQueuedPerTaskManager());
  }

  public int maxSessionsPerTenant(String tenant) throws Exception {
    return limit(
        LimitChange.SESSIONS_PER_TENANT + "/" + tenant,
        limit(LimitChange.SESSIONS_PER_TENANT, options.limits().maxSessionsPerTenant()));
  }

  public int maxSessionsPerTaskManager() throws Exception {
    return limit(
        LimitChange.SESSIONS_PER_TASKMANAGER, options.limits().maxSessionsPerTaskManager());
  }

  /**
   * Sets limits as {@link LimitChange} reads them.
   *
   * @throws RefusedException if the value cannot be read; then nothing changes
   */
  public void limits(String tenant, String value) throws Exception {
    Map<String, String> changed;
    try {
      changed = LimitChange.parse(tenant, value);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(e.getMessage());
    }
    for (Map.Entry<String, String> limit : changed.entrySet()) {
      String key = tenant == null ? limit.getKey() : limit.getKey() + "/" + tenant;
      if (limit.getValue().isEmpty()) {
        settings.remove(key);
      } else {
        settings.put(key, limit.getValue());
      }
    }
  }

  private int limit(String key, int configured) throws Exception {
    String value = settings.get(key);
    return value == null ? configured : Integer.parseInt(value);
  }
}
