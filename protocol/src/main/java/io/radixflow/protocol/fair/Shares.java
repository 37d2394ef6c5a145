package io.radixflow.protocol.fair;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * Weighted fair queueing by service, as in Sheng et al., "Fairness in Serving Large Language
 * Models" (2024). The tenant with the least service is next. So tenants that always have waiting
 * work get service by weight, and a tenant's backlog delays only its own work.
 *
 * <p>Virtual time is the service that each waiting tenant would have had with perfect sharing by
 * weight. When a tenant starts to wait, its service is raised to virtual time, limited to the range
 * of the waiting tenants' services. So no tenant saves up service or pays for having used idle
 * capacity, and a stream of new tenants does not stay ahead of a waiting tenant.
 *
 * <p>The caller keeps the work of each tenant, and reports when the work starts and stops waiting.
 * Not safe for several threads.
 *
 * @param <T> a tenant with its work
 */
public final class Shares<T extends Share> {
  public static final int MAX_WEIGHT = 1000;

  /**
   * The most remembered tenants without work; they are remembered because they had more service
   * than others.
   */
  private static final int MAX_IDLE = 1024;

  private final Map<String, Integer> weights;
  private final BiFunction<String, Integer, T> factory;
  private final Map<String, T> active = new HashMap<>();
  private final List<T> backlogged = new ArrayList<>();
  private final LinkedHashMap<String, T> idle = new LinkedHashMap<>();
  private long virtualTime;
  private long backloggedWeight;
  private long events;

  /**
   * @param weights of tenants; a tenant that is not named has weight 1
   * @param factory creates a tenant from a name and a weight
   */
  public Shares(Map<String, Integer> weights, BiFunction<String, Integer, T> factory) {
    this.weights = weights;
    this.factory = factory;
  }

  /** Returns the tenants with waiting work, in any order. */
  public List<T> backlogged() {
    return backlogged;
  }

  public long virtualTime() {
    return virtualTime;
  }

  /** Returns the tenant of a name, which is about to get work. */
  public T of(String name) {
    T tenant = active.get(name);
    if (tenant == null) {
      tenant = idle.remove(name);
      tenant = tenant == null ? factory.apply(name, weights.getOrDefault(name, 1)) : tenant;
      active.put(name, tenant);
    }
    return tenant;
  }

  /** Notes that a tenant without waiting work gets some. */
  public void beginsToWait(T tenant) {
    tenant.service = Math.max(tenant.service, serviceOfNewcomers());
    tenant.event(events++);
    backlogged.add(tenant);
    backloggedWeight += tenant.weight;
  }

  private long serviceOfNewcomers() {
    if (backlogged.isEmpty()) {
      return virtualTime;
    }
    long least = Long.MAX_VALUE;
    long most = Long.MIN_VALUE;
    for (int i = 0; i < backlogged.size(); i++) {
      least = Math.min(least, backlogged.get(i).service);
      most = Math.max(most, backlogged.get(i).service);
    }
    return Math.max(least, Math.min(most, virtualTime));
  }

  /** Notes that a tenant has no more waiting work. */
  public void endsToWait(T tenant) {
    backlogged.remove(tenant);
    backloggedWeight -= tenant.weight;
  }

  /**
   * Notes that work of a tenant starts. Of tenants with equal service, the others come first now.
   */
  public void begins(T tenant) {
    tenant.event(events++);
  }

  /**
   * Counts service of a tenant.
   *
   * @param amount amount before the division by the weight; in any unit, but much larger than the
   *     weights
   */
  public void charge(T tenant, long amount) {
    virtualTime += amount / (backlogged.isEmpty() ? tenant.weight : backloggedWeight);
    tenant.service += amount / tenant.weight;
  }

  /** Drops a tenant that has no work, unless it has had more than its share. */
  public void retire(T tenant) {
    if (active.remove(tenant.name) != null && tenant.service > virtualTime) {
      idle.put(tenant.name, tenant);
      if (idle.size() > MAX_IDLE) {
        idle.remove(idle.keySet().iterator().next());
      }
    }
  }
}
