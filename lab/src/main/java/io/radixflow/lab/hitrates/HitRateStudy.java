package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.simulate.OptimalHits;
import io.radixflow.operators.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs the simulations of each capacity with each policy, on all cores. */
public final class HitRateStudy {

  /** Receives, on any thread, how many simulations of how many are done. */
  @FunctionalInterface
  public interface Listener {
    void done(int simulations, int all);
  }

  private final CacheWorkload workload;
  private final List<String> policies;
  private final double protectedShare;
  private final boolean hints;
  private final Listener listener;
  private final AtomicInteger done = new AtomicInteger();

  /**
   * @param policies names that {@link EvictionPolicies} knows
   * @param protectedShare part of the capacity that SLRU protects at most
   * @param hints whether the caches learn of closed sessions
   */
  public HitRateStudy(
      CacheWorkload workload,
      List<String> policies,
      double protectedShare,
      boolean hints,
      Listener listener) {
    this.workload = workload;
    this.policies = List.copyOf(policies);
    this.protectedShare = protectedShare;
    this.hints = hints;
    this.listener = listener;
  }

  /**
   * Runs all.
   *
   * @param capacities pages, ascending
   */
  public HitRates run(List<Integer> capacities) throws InterruptedException {
    OptimalHits optimum = new OptimalHits(workload);
    List<Callable<CacheSimulation.Result>> cells = new ArrayList<>();
    for (int capacity : capacities) {
      for (String policy : policies) {
        cells.add(() -> simulate(capacity, policy, capacities.size() * policies.size()));
      }
    }
    List<CacheSimulation.Result> results = AllCores.run(cells);
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
    // more than there are blocks changes nothing but the memory that is taken
    int pages = Math.min(capacity, Math.max(1, workload.distinctBlocks()));
    CacheSimulation.Result result =
        CacheSimulation.run(
            workload, pages, EvictionPolicies.of(policy, pages, protectedShare), hints);
    listener.done(done.incrementAndGet(), all);
    return result;
  }
}
