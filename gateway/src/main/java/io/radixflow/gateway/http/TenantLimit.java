package io.radixflow.gateway.http;

import java.util.HashMap;
import java.util.Map;

/**
 * Bounds something that tenants use together, and keeps room for others: a tenant may have as much
 * as is free. One tenant can so have half of it, two a third each, and another one always finds
 * room. Safe for many threads.
 */
final class TenantLimit {

  private final long limit;
  private final Map<String, Long> used = new HashMap<>();
  private long total;

  TenantLimit(long limit) {
    this.limit = limit;
  }

  /**
   * Takes an amount, which is to be given back.
   *
   * @return whether there is room; if not, nothing is taken
   */
  synchronized boolean take(String tenant, long amount) {
    long own = used.getOrDefault(tenant, 0L) + amount;
    if (own > limit - total) {
      return false;
    }
    used.put(tenant, own);
    total += amount;
    return true;
  }

  /** Gives back what was taken. */
  synchronized void release(String tenant, long amount) {
    total -= amount;
    used.computeIfPresent(tenant, (name, own) -> own == amount ? null : own - amount);
  }
}
