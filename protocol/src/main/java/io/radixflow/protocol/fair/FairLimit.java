package io.radixflow.protocol.fair;

import java.util.HashMap;
import java.util.Map;

/**
 * Bounds something that tenants use together, and keeps room for others: a tenant may have as much
 * as is free. One tenant can so have half of it, two a third each, and another one always finds
 * room. Thread-safe.
 */
public final class FairLimit {

  private final long limit;
  private final Map<String, Long> used = new HashMap<>();
  private long total;

  public FairLimit(long limit) {
    this.limit = limit;
  }

  /**
   * Takes an amount, which is to be given back.
   *
   * @return whether there is room; if not, nothing is taken
   */
  public boolean take(String tenant, long amount) {
    return take(tenant, amount, 0);
  }

  /**
   * Takes more for something that holds an amount already. If the tenant has nothing else, the
   * amount need only fit.
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

  /** Gives back an amount that was taken. */
  public synchronized void release(String tenant, long amount) {
    total -= amount;
    used.computeIfPresent(tenant, (name, own) -> own == amount ? null : own - amount);
  }
}
