package io.radixflow.operators.engine.schedule;

import io.radixflow.operators.engine.request.Request;
import io.radixflow.operators.engine.request.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The engine's fairness among tenants: weighted fair queueing by tokens of service, as in Sheng et
 * al., "Fairness in Serving Large Language Models" (2024). The tenant with the least service is
 * next, so that tenants which always have requests waiting get tokens by weight, and a tenant's
 * backlog delays its own requests only.
 *
 * <p>Virtual time is the service that each waiting tenant would have had if all were served at once
 * by weight. A tenant that begins to wait has had at least that, as far as it lies between the
 * least and the most that a waiting one has had: no tenant saves service up or pays for having used
 * idle capacity, and no stream of new tenants stays ahead of one that waits. This decides the order
 * of requests inside one engine; which turns a subtask submits to the engine is decided before, by
 * the operator's {@code TurnQueues}.
 */
final class FairQueue {
  /** The most tenants without requests that are remembered because they had more than others. */
  private static final int MAX_IDLE = 1024;

  private final Map<String, Integer> weights;
  private final Map<String, Tenant> active = new HashMap<>();
  private final List<Tenant> backlogged = new ArrayList<>();
  private final LinkedHashMap<String, Tenant> idle = new LinkedHashMap<>();
  private long virtualTime;
  private long backloggedWeight;
  private long events;

  FairQueue(Map<String, Integer> weights) {
    this.weights = weights;
  }

  /** Returns the tenants that have waiting requests, in no order. */
  List<Tenant> backlogged() {
    return backlogged;
  }

  long virtualTime() {
    return virtualTime;
  }

  /** Returns the tenant of a name, which is about to get a request. */
  Tenant of(String name) {
    Tenant tenant = active.get(name);
    if (tenant == null) {
      tenant = idle.remove(name);
      tenant = tenant == null ? new Tenant(name, weights.getOrDefault(name, 1)) : tenant;
      active.put(name, tenant);
    }
    return tenant;
  }

  /** Adds a request to its tenant's waiting ones. */
  void add(Request request) {
    Tenant tenant = request.tenant;
    if (tenant.waiting.isEmpty()) {
      tenant.service = Math.max(tenant.service, serviceOfNewcomers());
      tenant.lastEvent = events++;
      backlogged.add(tenant);
      backloggedWeight += tenant.weight;
    }
    tenant.add(request);
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

  /** Removes a request from its tenant's waiting ones; returns whether it was there. */
  boolean remove(Request request) {
    Tenant tenant = request.tenant;
    if (tenant == null || !tenant.remove(request)) {
      return false;
    }
    if (tenant.waiting.isEmpty()) {
      backlogged.remove(tenant);
      backloggedWeight -= tenant.weight;
    }
    return true;
  }

  /**
   * Counts a waiting request as running from now on.
   *
   * @param byAge whether it was chosen for its age
   */
  void admitted(Request request, boolean byAge) {
    if (!request.admittedBefore) {
      charge(request.tenant, request.length);
    }
    remove(request);
    request.tenant.lastEvent = events++;
    request.tenant.admitted(request, byAge);
  }

  /** Counts tokens as a tenant's service. */
  void charge(Tenant tenant, int tokens) {
    long weight = backlogged.isEmpty() ? tenant.weight : backloggedWeight;
    virtualTime += tokens * Tenant.TOKEN / weight;
    tenant.service += tokens * Tenant.TOKEN / tenant.weight;
  }

  /** Drops a tenant that has no requests, unless it has had more than its share. */
  void retire(Tenant tenant) {
    if (!tenant.isIdle() || active.remove(tenant.name) == null) {
      return;
    }
    if (tenant.service > virtualTime) {
      idle.put(tenant.name, tenant);
      if (idle.size() > MAX_IDLE) {
        idle.remove(idle.keySet().iterator().next());
      }
    }
  }
}
