package io.radixflow.engine.schedule;

import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Ranks a tenant's waiting requests by a {@link SchedulePolicy}. A pure function of the requests,
 * of the running requests and of the pages cached for the tenant's own namespaces. Engine thread
 * only.
 */
@FunctionalInterface
interface WaitingOrder {

  /**
   * Sets the {@code rank} of each waiting request. A lower rank goes first; among equal ranks, the
   * earlier request goes first.
   *
   * @param waiting requests of one tenant, in order of arrival
   * @param running requests of all tenants
   */
  void rank(List<Request> waiting, List<Request> running);

  /**
   * @param pages where cached prefixes are looked up
   * @param seed decides the random order
   */
  static WaitingOrder of(SchedulePolicy policy, KvPages pages, long seed) {
    return switch (policy) {
      case FCFS -> each(request -> 0);
      case LPM -> each(request -> -pages.match(request).pages());
      case DFS_WEIGHT -> new DfsWeightOrder(pages);
      case LOF -> each(request -> -request.spec.maxTokens());
      case RANDOM -> each(request -> mix(seed, request.sequence));
      case ROUTING_KEY -> new RoutingKeyOrder();
    };
  }

  private static WaitingOrder each(ToLongFunction<Request> rank) {
    return (waiting, running) -> {
      for (int i = 0; i < waiting.size(); i++) {
        Request request = waiting.get(i);
        request.standing.rank(rank.applyAsLong(request));
      }
    };
  }

  /** Returns a hash of both arguments: the finalizer of SplitMix64. */
  private static long mix(long seed, long value) {
    long bits = seed + (value + 1) * 0x9e3779b97f4a7c15L;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return bits ^ (bits >>> 31);
  }
}
