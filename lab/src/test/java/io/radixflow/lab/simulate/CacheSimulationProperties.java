package io.radixflow.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** The simulation against a set of prefixes, and the bound against all that could be kept. */
class CacheSimulationProperties {

  /** A prompt, and how many of its last blocks are a reply's. */
  record Request(List<Integer> blocks, int reply) {
    int inputs() {
      return blocks.size() - reply;
    }

    List<Integer> prefix(int length) {
      return blocks.subList(0, length);
    }
  }

  private static CacheWorkload workload(List<Request> requests) {
    CacheWorkload.Builder builder = new CacheWorkload.Builder();
    for (Request request : requests) {
      builder.begin(0);
      for (int i = 0; i < request.blocks.size(); i++) {
        if (i == request.inputs()) {
          builder.endInput();
        }
        builder.block(request.blocks.get(i));
      }
    }
    return builder.build();
  }

  private static long hits(CacheWorkload workload, int capacity, String policy) {
    return CacheSimulation.run(workload, capacity, EvictionPolicies.of(policy, capacity, 1), true)
        .hits();
  }

  /** A cached prefix; what it is evicted by is that of its last block. */
  private static final class Cached {
    int uses;
    int stored;
    int used;
  }

  /** Prefixes in a map, one block each, of which all but those with longer ones can be evicted. */
  private static long naiveHits(
      List<Request> requests, int capacity, Comparator<Map.Entry<List<Integer>, Cached>> order) {
    Map<List<Integer>, Cached> cache = new HashMap<>();
    long hits = 0;
    int clock = 0;
    for (Request request : requests) {
      clock++;
      int found = 0;
      while (found < request.blocks.size() && cache.containsKey(request.prefix(found + 1))) {
        found++;
      }
      hits += Math.min(found, request.inputs());
      for (int length = 1; length <= request.blocks.size(); length++) {
        List<Integer> prefix = request.prefix(length);
        if (!cache.containsKey(prefix) && cache.size() == capacity) {
          List<Integer> victim = victim(cache, pinned(request, length), order);
          if (victim == null) {
            break;
          }
          cache.remove(victim);
        }
        Cached entry = cache.computeIfAbsent(prefix, p -> new Cached());
        entry.stored = entry.uses == 0 ? clock : entry.stored;
        entry.uses++;
        entry.used = clock;
      }
    }
    return hits;
  }

  private static Set<List<Integer>> pinned(Request request, int length) {
    Set<List<Integer>> pinned = new HashSet<>();
    for (int i = 1; i < length; i++) {
      pinned.add(request.prefix(i));
    }
    return pinned;
  }

  private static List<Integer> victim(
      Map<List<Integer>, Cached> cache,
      Set<List<Integer>> pinned,
      Comparator<Map.Entry<List<Integer>, Cached>> order) {
    Set<List<Integer>> parents = new HashSet<>();
    cache.keySet().forEach(prefix -> parents.add(prefix.subList(0, prefix.size() - 1)));
    return cache.entrySet().stream()
        .filter(entry -> !pinned.contains(entry.getKey()) && !parents.contains(entry.getKey()))
        .min(order)
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  private static Comparator<Map.Entry<List<Integer>, Cached>> leastRecent() {
    return Comparator.comparingInt(entry -> entry.getValue().used);
  }

  private static Comparator<Map.Entry<List<Integer>, Cached>> by(String policy) {
    return switch (policy) {
      case "lru" -> leastRecent();
      case "fifo" ->
          Comparator.<Map.Entry<List<Integer>, Cached>>comparingInt(e -> e.getValue().stored)
              .thenComparing(leastRecent());
      case "lfu" ->
          Comparator.<Map.Entry<List<Integer>, Cached>>comparingInt(e -> e.getValue().uses)
              .thenComparing(leastRecent());
      case "slru" ->
          Comparator.<Map.Entry<List<Integer>, Cached>>comparingInt(
                  e -> Math.min(2, e.getValue().uses))
              .thenComparing(leastRecent());
      default -> throw new IllegalArgumentException(policy);
    };
  }

  @Property(tries = 300)
  void theTreeHitsWhatASetOfPrefixesHits(
      @ForAll("requests") List<Request> requests,
      @ForAll("checkedPolicies") String policy,
      @ForAll @IntRange(min = 1, max = 14) int capacity) {
    assertThat(hits(workload(requests), capacity, policy))
        .isEqualTo(naiveHits(requests, capacity, by(policy)));
  }

  @Property(tries = 300)
  void noPolicyHitsMoreThanTheBound(
      @ForAll("requests") List<Request> requests,
      @ForAll("policies") String policy,
      @ForAll @IntRange(min = 1, max = 14) int capacity) {
    CacheWorkload workload = workload(requests);

    assertThat(hits(workload, capacity, policy))
        .isLessThanOrEqualTo(new OptimalHits(workload).hits(capacity));
  }

  @Property(tries = 200)
  void theBoundGrowsWithTheCapacityUpToWhatAnEndlessCacheHits(
      @ForAll("requests") List<Request> requests) {
    CacheWorkload workload = workload(requests);
    OptimalHits optimum = new OptimalHits(workload);

    long before = 0;
    for (int capacity = 0; capacity <= workload.distinctBlocks(); capacity++) {
      assertThat(optimum.hits(capacity)).isGreaterThanOrEqualTo(before);
      before = optimum.hits(capacity);
    }
    assertThat(before).isEqualTo(hits(workload, Math.max(1, workload.distinctBlocks()), "lru"));
  }

  @Property(tries = 150)
  void theBoundIsTheBestOfAllThatCouldBeKept(
      @ForAll("prompts") List<Request> requests, @ForAll @IntRange(min = 1, max = 4) int capacity) {
    assertThat(new OptimalHits(workload(requests)).hits(capacity))
        .isEqualTo(bestHits(requests, capacity));
  }

  @Property(tries = 150)
  void repliesNeverMakeTheBoundTooSmall(
      @ForAll("fewRequests") List<Request> requests,
      @ForAll @IntRange(min = 1, max = 4) int capacity) {
    assertThat(new OptimalHits(workload(requests)).hits(capacity))
        .isGreaterThanOrEqualTo(bestHits(requests, capacity));
  }

  /** Tries every content that the cache could have after each request. */
  private static long bestHits(List<Request> requests, int capacity) {
    Map<Set<List<Integer>>, Long> best = new HashMap<>(Map.of(Set.of(), 0L));
    for (Request request : requests) {
      Map<Set<List<Integer>>, Long> next = new HashMap<>();
      best.forEach(
          (cache, hits) -> {
            int found = 0;
            while (found < request.inputs() && cache.contains(request.prefix(found + 1))) {
              found++;
            }
            long total = hits + found;
            Set<List<Integer>> all = new HashSet<>(cache);
            for (int length = 1; length <= request.blocks.size(); length++) {
              all.add(request.prefix(length));
            }
            for (Set<List<Integer>> kept : closedSubsets(all, capacity)) {
              next.merge(kept, total, Math::max);
            }
          });
      best = next;
    }
    return best.values().stream().mapToLong(Long::longValue).max().orElseThrow();
  }

  /** Subsets of at most {@code capacity} prefixes that have the parent of each. */
  private static List<Set<List<Integer>>> closedSubsets(Set<List<Integer>> all, int capacity) {
    List<List<Integer>> shortestFirst =
        all.stream().sorted(Comparator.comparingInt(List::size)).toList();
    List<Set<List<Integer>>> subsets = new ArrayList<>(List.of(Set.of()));
    for (List<Integer> prefix : shortestFirst) {
      List<Integer> parent = prefix.subList(0, prefix.size() - 1);
      for (Set<List<Integer>> subset : List.copyOf(subsets)) {
        if (subset.size() < capacity && (parent.isEmpty() || subset.contains(parent))) {
          Set<List<Integer>> larger = new HashSet<>(subset);
          larger.add(prefix);
          subsets.add(larger);
        }
      }
    }
    return subsets;
  }

  @Provide
  Arbitrary<String> checkedPolicies() {
    return Arbitraries.of("lru", "fifo", "lfu", "slru");
  }

  @Provide
  Arbitrary<String> policies() {
    return Arbitraries.of(EvictionPolicies.names());
  }

  @Provide
  Arbitrary<List<Request>> requests() {
    return request(2, 6).list().ofMinSize(1).ofMaxSize(40);
  }

  @Provide
  Arbitrary<List<Request>> prompts() {
    return request(1, 3).map(r -> new Request(r.blocks, 0)).list().ofMinSize(1).ofMaxSize(7);
  }

  @Provide
  Arbitrary<List<Request>> fewRequests() {
    return request(1, 3).list().ofMinSize(1).ofMaxSize(7);
  }

  private static Arbitrary<Request> request(int largest, int longest) {
    return Combinators.combine(
            Arbitraries.integers().between(0, largest).list().ofMinSize(1).ofMaxSize(longest),
            Arbitraries.integers().between(0, 2))
        .as((blocks, reply) -> new Request(List.copyOf(blocks), Math.min(reply, blocks.size())));
  }
}
