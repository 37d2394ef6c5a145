package io.radixflow.engine.schedule;

import io.radixflow.engine.request.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Requests whose routing key most of the tenant's running requests have come first; ties are
 * ordered by key. Requests whose key no running request has come in order of arrival.
 */
final class RoutingKeyOrder implements WaitingOrder {

  @Override
  public void rank(List<Request> waiting, List<Request> running) {
    Map<String, Integer> counts = new HashMap<>();
    for (Request request : running) {
      if (!waiting.isEmpty() && request.standing.tenant() == waiting.get(0).standing.tenant()) {
        counts.merge(key(request), 1, Integer::sum);
      }
    }
    if (counts.isEmpty()) {
      waiting.forEach(request -> request.standing.rank(0));
      return;
    }
    List<Request> sorted = new ArrayList<>(waiting);
    sorted.sort(
        Comparator.comparingInt((Request request) -> -counts.getOrDefault(key(request), 0))
            .thenComparing(RoutingKeyOrder::key));
    long rank = 0;
    for (int i = 0; i < sorted.size(); i++) {
      if (i > 0 && !key(sorted.get(i)).equals(key(sorted.get(i - 1)))) {
        rank++;
      }
      sorted.get(i).standing.rank(rank);
    }
  }

  private static String key(Request request) {
    return request.spec.service().routingKey();
  }
}
