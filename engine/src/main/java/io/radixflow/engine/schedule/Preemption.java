package io.radixflow.engine.schedule;

import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestStanding;
import io.radixflow.engine.request.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Chooses the running requests to preempt for a more urgent request of the same tenant. The least
 * urgent come first; of equally urgent requests, the latest comes first.
 *
 * @param threshold the difference of urgency must be above this
 */
record Preemption(int threshold) {
  private static final Comparator<Request> LEAST_URGENT_FIRST =
      Comparator.comparingInt((Request request) -> request.standing.urgency())
          .thenComparing(request -> request.sequence, Comparator.reverseOrder());

  /**
   * Chooses the requests to preempt so that a waiting request gets the pages or permits that it
   * lacks.
   *
   * @param lacking how many it lacks, at least 1
   * @param worth how many the preemption of a request yields
   * @return as few requests as suffice; empty if all of them would not suffice
   */
  List<Request> victims(
      Request waiting, List<Request> running, int lacking, ToIntFunction<Request> worth) {
    List<Request> candidates = new ArrayList<>();
    for (int i = 0; i < running.size(); i++) {
      if (mayPreempt(waiting, running.get(i))) {
        candidates.add(running.get(i));
      }
    }
    candidates.sort(LEAST_URGENT_FIRST);
    int left = lacking;
    for (int i = 0; i < candidates.size(); i++) {
      left -= worth.applyAsInt(candidates.get(i));
      if (left <= 0) {
        return candidates.subList(0, i + 1);
      }
    }
    return List.of();
  }

  private boolean mayPreempt(Request waiting, Request running) {
    return waiting.standing.tenant() == running.standing.tenant()
        && waiting.standing.urgency() != RequestStanding.AGED
        && (long) waiting.standing.urgency() - running.standing.urgency() > threshold;
  }

  /**
   * Returns the request to preempt when pages run out: the tenant's least urgent request, and of
   * equally urgent requests the youngest.
   */
  static Request leastUrgent(List<Request> running, Tenant tenant) {
    Request least = null;
    for (int i = 0; i < running.size(); i++) {
      Request request = running.get(i);
      if (request.standing.tenant() == tenant
          && (least == null || LEAST_URGENT_FIRST.compare(request, least) < 0)) {
        least = request;
      }
    }
    return least;
  }
}
