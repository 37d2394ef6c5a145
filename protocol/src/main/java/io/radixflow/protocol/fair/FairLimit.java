package io.radixflow.protocol.fair;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits a resource that tenants share, and keeps room for others: a tenant may have as much as is
 * still free. So one tenant can have half of it, two tenants a third each, and another tenant
 * always finds room. Thread-safe.
 */
public final class FairLimit {

  private final long limit;
  private final Map<String, Long> used = new HashMap<>();
  private long total;

  public FairLimit(long limit) {
    this.limit = limit;
  }

  /**
   * Takes an amount, which must be released later.
   *
   * @return whether there is room; if not, nothing is taken
   */
  public boolean take(String tenant, long amount) {
    return take(tenant, amount, 0);
  }

  /**
   * Takes more for a user that already has an amount. If the tenant has nothing else, the amount
   * need only fit.
   *
   * @return whether there is room; if not, nothing is taken
   */
  public synchronized boolean take(String tenant, long amount, long held) {
    long before = used.getOrDefault(tenant, 0L);
    long own = before + amount;
    long free = limit - total;
    if (amount > free || before > held && own > free) {
      return false;
    }
    used.put(tenant, own);
    total += amount;
    return true;
  }

  /** Releases an amount. */
  public synchronized void release(String tenant, long amount) {
    total -= amount;
    used.computeIfPresent(tenant, (name, own) -> own == amount ? null : own - amount);
  }
}
