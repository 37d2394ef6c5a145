package io.radixflow.engine.request;

import io.radixflow.protocol.fair.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A tenant's waiting requests, and its service so far.
 *
 * <p>Service is counted in tokens, divided by the weight: the tokens of a prompt when it is
 * admitted, and each generated token. Cached and computed tokens count the same, so the order of
 * tenants does not depend on cached pages.
 */
public final class Tenant extends Share {
  /** Service of one token at weight 1. */
  public static final long TOKEN = 1L << 20;

  /** In order of arrival; {@link #add} and {@link #remove} change it. */
  public final List<Request> waiting = new ArrayList<>();

  /** The requests that may be admitted in this round, the next one first. */
  public final PriorityQueue<Request> candidates = new PriorityQueue<>(Tenant::order);

  private final SessionLaps laps = new SessionLaps();

  /** Requests that hold pages. */
  public int running;

  /** The round to which {@link #candidates} belongs. */
  public long round = -1;

  /** The tenant's admissions since its last admission by age. */
  public int sinceOldest;

  /** The highest sequence of its requests that have been admitted. */
  public long newestAdmitted = -1;

  public Tenant(String name, int weight) {
    super(name, weight);
  }

  public void add(Request request) {
    ArrivalOrder.insert(waiting, request);
    laps.add(request);
  }

  /** Removes a waiting request; returns whether it was there. */
  public boolean remove(Request request) {
    if (!ArrivalOrder.remove(waiting, request)) {
      return false;
    }
    laps.remove(request);
    return true;
  }

  /**
   * Counts a request of this tenant as running from now on.
   *
   * @param byAge whether it was chosen because of its age
   */
  public void admitted(Request request, boolean byAge) {
    running++;
    sinceOldest = byAge ? 0 : sinceOldest + 1;
    newestAdmitted = Math.max(newestAdmitted, request.sequence);
  }

  public boolean isIdle() {
    return waiting.isEmpty() && running == 0;
  }

  /** Compares by urgency, earlier admission, lap among sessions, rank and arrival. */
  static int order(Request a, Request b) {
    if (a.standing.urgency() != b.standing.urgency()) {
      return a.standing.urgency() > b.standing.urgency() ? -1 : 1;
    }
    if (a.standing.wasAdmitted() != b.standing.wasAdmitted()) {
      return a.standing.wasAdmitted() ? -1 : 1;
    }
    if (a.standing.lap() != b.standing.lap()) {
      return a.standing.lap() < b.standing.lap() ? -1 : 1;
    }
    if (a.standing.rank() != b.standing.rank()) {
      return a.standing.rank() < b.standing.rank() ? -1 : 1;
    }
    return Long.compare(a.sequence, b.sequence);
  }
}
