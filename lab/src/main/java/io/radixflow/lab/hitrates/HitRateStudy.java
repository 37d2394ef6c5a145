package io.radixflow.lab.hitrates;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.simulate.OptimalHits;
import io.radixflow.lab.simulate.SimulatedTiers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/** Runs independent simulations on all cores. Each simulates a capacity, or tiers with a policy. */
public final class HitRateStudy {

  private final CacheWorkload workload;
  private final List<String> policies;
  private final double protectedShare;
  private final boolean hints;
  private final BiConsumer<Integer, Integer> listener;
  private final AtomicInteger done = new AtomicInteger();

  /**
   * @param policies names of {@link EvictionPolicies}
   * @param protectedShare the largest part of the capacity that SLRU protects
   * @param hints whether the caches learn of closed sessions
   * @param listener receives, on any thread, the number of finished simulations and the total
   *     number
   */
  public HitRateStudy(
      CacheWorkload workload,
      List<String> policies,
      double protectedShare,
      boolean hints,
      BiConsumer<Integer, Integer> listener) {
    this.workload = workload;
    this.policies = List.copyOf(policies);
    this.protectedShare = protectedShare;
    this.hints = hints;
    this.listener = listener;
  }

  /**
   * Runs all simulations.
   *
   * @param capacities pages, ascending
   */
  public HitRates run(List<Integer> capacities) {
    OptimalHits optimum = new OptimalHits(workload);
    int all = capacities.size() * policies.size();
    List<CacheSimulation.Result> results =
        IntStream.range(0, all)
            .parallel()
            .mapToObj(
                i ->
                    simulate(
                        capacities.get(i / policies.size()),
                        policies.get(i % policies.size()),
                        all))
            .toList();
    List<HitRates.Row> rows = new ArrayList<>();
    for (int capacity : capacities) {
      int from = rows.size() * policies.size();
      rows.add(
          new HitRates.Row(
              capacity, results.subList(from, from + policies.size()), optimum.hits(capacity)));
    }
    return new HitRates(
        policies, workload.inputBlocks(), optimum.hits(workload.distinctBlocks()), rows);
  }

  private CacheSimulation.Result simulate(int capacity, String policy, int all) {
    // more pages than blocks would give the same result and only take more memory
    int pages = Math.min(capacity, Math.max(1, workload.distinctBlocks()));
    CacheSimulation.Result result =
        CacheSimulation.run(
            workload, pages, EvictionPolicies.of(policy, pages, protectedShare), hints);
    listener.accept(done.incrementAndGet(), all);
    return result;
  }

  /**
   * Compares a model with sliding-window layers with a model without them, in pools of equal bytes.
   *
   * @param capacities bytes of pools, in pages of all layers, ascending
   * @param shares parts of the pages that have window parts
   * @param windowPages pages of a window
   * @param inWindows part of a page's bytes that window layers have, below 1
   */
  public WindowRates runWindows(
      List<Integer> capacities, List<Double> shares, int windowPages, double inWindows) {
    String policy = policies.get(0);
    int all = capacities.size() * (shares.size() + 1);
    List<WindowRates.Row> rows =
        capacities.parallelStream()
            .map(
                capacity ->
                    new WindowRates.Row(
                        capacity,
                        simulate(capacity, policy, all).hits(),
                        shares.stream()
                            .map(share -> window(capacity, share, windowPages, inWindows, all))
                            .toList()))
            .toList();
    long unlimited = new OptimalHits(workload).hits(workload.distinctBlocks());
    return new WindowRates(workload.inputBlocks(), unlimited, shares, rows);
  }

  private WindowRates.Cell window(
      int capacity, double share, int windowPages, double inWindows, int all) {
    int pages = (int) Math.max(1, capacity / (1 - inWindows + share * inWindows));
    // the parts that one request needs may exceed the share; then there are fewer pages
    int parts = (int) Math.max(windowPages + 2, Math.ceil(share * pages));
    double left = (capacity - parts * inWindows) / (1 - inWindows);
    pages = (int) Math.min(pages, left);
    CacheSimulation.Result result =
        pages < parts
            ? new CacheSimulation.Result(0, 0, 0)
            : CacheSimulation.run(
                workload,
                pages,
                parts,
                windowPages,
                EvictionPolicies.of(policies.get(0), pages, protectedShare),
                hints);
    listener.accept(done.incrementAndGet(), all);
    return new WindowRates.Cell(Math.max(0, pages), result.hits());
  }

  /**
   * Runs a device with host memory and a disk below it under each policy.
   *
   * @param devicePages at least 1
   * @param hostPages at least 1
   * @param diskPages 0 for no disk
   */
  public TierRates runTiers(int devicePages, int hostPages, int diskPages) {
    List<TierRates.Row> rows =
        policies.parallelStream()
            .map(policy -> simulate(policy, devicePages, hostPages, diskPages))
            .toList();
    long unlimited = new OptimalHits(workload).hits(workload.distinctBlocks());
    return new TierRates(
        workload.inputBlocks(), unlimited, devicePages, hostPages, diskPages, rows);
  }

  private TierRates.Row simulate(String policy, int device, int host, int disk) {
    try (SimulatedTiers tiers = new SimulatedTiers(device, host, disk)) {
      CacheSimulation.Result result =
          CacheSimulation.run(
              workload, device, EvictionPolicies.of(policy, device, protectedShare), hints, tiers);
      listener.accept(done.incrementAndGet(), policies.size());
      return new TierRates.Row(policy, result.hits(), tiers.hostHits(), tiers.diskHits());
    }
  }
}
