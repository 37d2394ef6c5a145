package io.radixflow.engine.schedule;

import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.SessionLaps;
import io.radixflow.engine.request.Tenant;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Keeps the waiting requests and decides which one is admitted next. The decision is a pure
 * function of the waiting and running requests, the cached pages, and the admissions so far. Time
 * is counted in admissions.
 *
 * <ol>
 *   <li>The tenant with the least service for its weight is next; see {@link FairQueue}.
 *   <li>Among its requests, more urgent requests come first, then requests that lost their pages,
 *       then one of each session (see {@link SessionLaps}), then the policy's order, then arrival.
 *       But every {@link SchedulerOptions#ageing}-th admission of a tenant goes to its oldest
 *       request if that was overtaken. That request then keeps a rank above all priorities.
 *   <li>A request is skipped while a running request computes a prefix of its prompt, and while its
 *       pages come from a lower tier.
 * </ol>
 *
 * <p>So no request starves, whatever arrives. If a tenant has {@code n} older requests, a request
 * is admitted within {@code ageing * (n + 1)} admissions of that tenant.
 *
 * <p>Requests of one tenant are compared by cached pages of its own namespaces only. Tenants are
 * compared by requested tokens, cached or not. So the order never depends on the cached pages of
 * another tenant. Tenants affect each other only through eviction, because they share the pool.
 *
 * <p>A round is the planning of one step. Candidates are gathered at most once per round, and only
 * if a request can be admitted. This takes O(n) for {@code n} waiting requests, and O(log n) per
 * admission. Engine thread only.
 */
final class Admission {
  private final SchedulerOptions options;
  private final KvPages pages;
  private final List<Request> running;
  private final WaitingOrder order;
  private final SharedPrefixes shared;
  private final FairQueue tenants;

  /** Tenants that may have candidates in this round, the least served first. */
  private final PriorityQueue<Tenant> candidateTenants = new PriorityQueue<>();

  private long round;
  private boolean gathered;
  private boolean byAge;
  private long promotions;

  /**
   * @param policy the policy in effect
   * @param running the running requests; read only
   */
  Admission(SchedulerOptions options, SchedulePolicy policy, KvPages pages, List<Request> running) {
    this.options = options;
    this.pages = pages;
    this.running = running;
    this.order = WaitingOrder.of(policy, pages, options.seed());
    this.shared = new SharedPrefixes(pages);
    this.tenants = new FairQueue(options.tenantWeights());
  }

  /** Returns how many requests were admitted because of their age. */
  long promotions() {
    return promotions;
  }

  /** Returns how often a request waited for a prefix that another request computed. */
  long deferrals() {
    return shared.deferrals();
  }

  List<Request> waiting() {
    List<Request> all = new ArrayList<>();
    tenants.backlogged().forEach(tenant -> all.addAll(tenant.waiting));
    return all;
  }

  /** Returns whether the consumer of a paused waiting request has caught up. */
  boolean canResume() {
    List<Tenant> backlogged = tenants.backlogged();
    for (int i = 0; i < backlogged.size(); i++) {
      if (Request.anyCanResume(backlogged.get(i).waiting)) {
        return true;
      }
    }
    return false;
  }

  void add(Request request) {
    if (request.standing.tenant() == null) {
      ServiceClass service = request.spec.service();
      int priority = service.priority();
      request.standing.join(
          tenants.of(service.tenant()), options.lowPriorityFirst() ? -priority : priority);
    }
    tenants.add(request);
  }

  /** Removes a waiting request; returns whether it was there. */
  boolean remove(Request request) {
    if (!tenants.remove(request)) {
      return false;
    }
    tenants.retire(request.standing.tenant());
    return true;
  }

  /** Adds a preempted request to the waiting requests. */
  void preempted(Request request) {
    add(request);
    request.standing.tenant().running--;
  }

  /** Charges a token that is about to be generated for a running request. */
  void generates(Request request) {
    tenants.charge(request.standing.tenant(), 1);
  }

  /** Notes the end of a running request. */
  void ended(Request request) {
    request.standing.tenant().running--;
    tenants.retire(request.standing.tenant());
  }

  void beginRound() {
    round++;
    gathered = false;
  }

  /** Returns whether {@link #next} chose the request because of its age. */
  boolean isByAge() {
    return byAge;
  }

  /** Returns the request to admit next, or null if none can be admitted. */
  Request next() {
    if (!gathered) {
      gathered = true;
      candidateTenants.clear();
      candidateTenants.addAll(tenants.backlogged());
    }
    for (Tenant tenant = candidateTenants.peek();
        tenant != null;
        tenant = candidateTenants.peek()) {
      Request request = nextOf(tenant);
      if (request != null) {
        return request;
      }
      candidateTenants.poll();
    }
    return null;
  }

  private Request nextOf(Tenant tenant) {
    byAge = false;
    if (tenant.sinceOldest >= options.ageing() - 1) {
      Request oldest = firstOf(tenant.waiting);
      if (oldest != null && oldest.sequence < tenant.newestAdmitted) {
        byAge = true;
        return oldest;
      }
    }
    gather(tenant);
    for (Request request = tenant.candidates.peek();
        request != null;
        request = tenant.candidates.peek()) {
      if (!shared.shouldWait(request, pages.match(request).pages(), running)) {
        return request;
      }
      tenant.candidates.poll();
    }
    return null;
  }

  private void gather(Tenant tenant) {
    if (tenant.round == round) {
      return;
    }
    tenant.round = round;
    tenant.candidates.clear();
    order.rank(tenant.waiting, running);
    for (int i = 0; i < tenant.waiting.size(); i++) {
      Request request = tenant.waiting.get(i);
      if (!isHeldUp(request) && !shared.isWaiting(request)) {
        tenant.candidates.add(request);
      }
    }
  }

  /**
   * Returns whether the request must wait for its consumer, or for pages that are being loaded to
   * host memory.
   */
  private boolean isHeldUp(Request request) {
    return request.standing.wasAdmitted() && request.pauseIfBehind()
        || pages.loads().mustWait(request);
  }

  private Request firstOf(List<Request> waiting) {
    for (int i = 0; i < waiting.size(); i++) {
      if (!isHeldUp(waiting.get(i))) {
        return waiting.get(i);
      }
    }
    return null;
  }

  /** Notes that the last result of {@link #next} now runs. */
  void admitted(Request request) {
    Tenant tenant = request.standing.tenant();
    candidateTenants.remove(tenant);
    if (tenant.round == round) {
      tenant.candidates.remove(request);
    }
    tenants.remove(request);
    tenants.admitted(request, byAge);
    if (byAge) {
      promotions++;
      request.standing.age();
    }
    request.standing.awaitNoPrefix();
    if (gathered && !tenant.waiting.isEmpty()) {
      candidateTenants.add(tenant);
    }
  }
}
