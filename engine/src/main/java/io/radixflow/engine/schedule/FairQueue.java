package io.radixflow.engine.schedule;

import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.Tenant;
import io.radixflow.protocol.fair.Shares;
import java.util.List;
import java.util.Map;

/**
 * The engine's fairness among tenants, by tokens of service; see {@link Shares}. It decides the
 * order of requests inside one engine. Before that, the operator's {@code TurnQueues} decide which
 * turns are submitted to the engine.
 */
final class FairQueue {
  private final Shares<Tenant> tenants;

  FairQueue(Map<String, Integer> weights) {
    tenants = new Shares<>(weights, Tenant::new);
  }

  /** Returns the tenants with waiting requests, in any order. */
  List<Tenant> backlogged() {
    return tenants.backlogged();
  }

  long virtualTime() {
    return tenants.virtualTime();
  }

  /** Returns the tenant of a name, which is about to get a request. */
  Tenant of(String name) {
    return tenants.of(name);
  }

  /** Adds a waiting request to its tenant. */
  void add(Request request) {
    Tenant tenant = request.standing.tenant();
    if (tenant.waiting.isEmpty()) {
      tenants.beginsToWait(tenant);
    }
    tenant.add(request);
  }

  /** Removes a waiting request from its tenant; returns whether it was there. */
  boolean remove(Request request) {
    Tenant tenant = request.standing.tenant();
    if (tenant == null || !tenant.remove(request)) {
      return false;
    }
    if (tenant.waiting.isEmpty()) {
      tenants.endsToWait(tenant);
    }
    return true;
  }

  /**
   * Counts a waiting request as running from now on.
   *
   * @param byAge whether it was chosen because of its age
   */
  void admitted(Request request, boolean byAge) {
    if (!request.standing.wasAdmitted()) {
      charge(request.standing.tenant(), request.tokens.length());
    }
    remove(request);
    tenants.begins(request.standing.tenant());
    request.standing.tenant().admitted(request, byAge);
  }

  /** Counts tokens as a tenant's service. */
  void charge(Tenant tenant, int tokens) {
    tenants.charge(tenant, tokens * Tenant.TOKEN);
  }

  /** Drops a tenant that has no requests, unless it has had more than its share. */
  void retire(Tenant tenant) {
    if (tenant.isIdle()) {
      tenants.retire(tenant);
    }
  }
}
