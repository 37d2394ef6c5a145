package io.radixflow.operators.flink.engine;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts one kind of things, such as turns, over all subtasks of a job on a TaskManager and by
 * tenant, so that limits hold for the TaskManager however many subtasks it has. Thread-safe; a
 * change takes a lock that is held for two map look-ups.
 *
 * <p>In memory. Each subtask counts what it finds in state when it begins, without regard to the
 * limits, and takes all of its own away when it ends, so counts follow a restore, a rescale and a
 * restart.
 */
public final class TenantCounts {

  /** The limit that is reached. */
  public enum Full {
    TENANT,
    TASK_MANAGER
  }

  private final Map<String, Integer> tenants = new HashMap<>();
  private int total;

  /** Begins a subtask's part. */
  public Share share() {
    return new Share();
  }

  synchronized int total() {
    return total;
  }

  private synchronized Full tryAdd(String tenant, int freed, int tenantLimit, int limit) {
    if (tenants.getOrDefault(tenant, 0) - freed >= tenantLimit) {
      return Full.TENANT;
    }
    if (total - freed >= limit) {
      return Full.TASK_MANAGER;
    }
    change(tenant, 1);
    return null;
  }

  private synchronized void change(String tenant, int by) {
    total += by;
    tenants.merge(tenant, by, TenantCounts::sumOrNone);
  }

  private static Integer sumOrNone(int count, int by) {
    return count + by == 0 ? null : count + by;
  }

  /** One subtask's part; its task's thread alone uses it. */
  public final class Share implements AutoCloseable {
    private final Map<String, Integer> own = new HashMap<>();
    private int count;

    /** Returns how many this subtask has. */
    public int count() {
      return count;
    }

    /** Counts one more, without regard to the limits. */
    public void add(String tenant) {
      change(tenant, 1);
      added(tenant);
    }

    /**
     * Counts one more if there is room on the TaskManager.
     *
     * @param freed how many of the tenant's are about to go
     * @return null if it is counted, else the limit that is reached
     */
    public Full tryAdd(String tenant, int freed, int tenantLimit, int limit) {
      Full full = TenantCounts.this.tryAdd(tenant, freed, tenantLimit, limit);
      if (full == null) {
        added(tenant);
      }
      return full;
    }

    private void added(String tenant) {
      count++;
      own.merge(tenant, 1, Integer::sum);
    }

    public void remove(String tenant) {
      change(tenant, -1);
      count--;
      own.merge(tenant, -1, TenantCounts::sumOrNone);
    }

    /** The subtask ends: all of its own is gone. Idempotent. */
    @Override
    public void close() {
      own.forEach((tenant, n) -> change(tenant, -n));
      own.clear();
      count = 0;
    }
  }
}
