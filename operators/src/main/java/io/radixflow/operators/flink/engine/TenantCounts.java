package io.radixflow.operators.flink.engine;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts things of one kind, such as turns, by tenant and over all subtasks of a job on a
 * TaskManager. So limits apply to the TaskManager, however many subtasks it has. Thread-safe; a
 * change holds a lock for two map look-ups.
 *
 * <p>The counts are in memory. A subtask adds the things that it finds in state when it starts,
 * even beyond the limits, and removes its part when it ends. So the counts are right after a
 * restore, a rescale and a restart.
 */
public final class TenantCounts {

  /** The limit that is reached. */
  public enum Full {
    TENANT,
    TASK_MANAGER
  }

  private final Map<String, Integer> tenants = new HashMap<>();
  private int total;

  /** Creates a subtask's part. */
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

  /** One subtask's part. Only the task's thread uses it. */
  public final class Share implements AutoCloseable {
    private final Map<String, Integer> own = new HashMap<>();
    private int count;

    public int count() {
      return count;
    }

    /** Adds one, even beyond the limits. */
    public void add(String tenant) {
      change(tenant, 1);
      added(tenant);
    }

    /**
     * Adds one if there is room on the TaskManager.
     *
     * @param freed how many of the tenant are about to be removed
     * @return null if one was added, else the limit that is reached
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

    /** Removes the part of a subtask that ends. Idempotent. */
    @Override
    public void close() {
      own.forEach((tenant, n) -> change(tenant, -n));
      own.clear();
      count = 0;
    }
  }
}
