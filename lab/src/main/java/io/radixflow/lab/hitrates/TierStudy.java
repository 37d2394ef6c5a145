package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.simulate.OptimalHits;
import io.radixflow.lab.simulate.SimulatedTiers;
import io.radixflow.operators.cache.policy.EvictionPolicies;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs simulations of a device with host memory and a disk below it, on all cores. */
public final class TierStudy {
  private final CacheWorkload workload;
  private final List<String> policies;
  private final double protectedShare;
  private final boolean hints;
  private final HitRateStudy.Listener listener;
  private final AtomicInteger done = new AtomicInteger();

  /**
   * @param policies of the device, names that {@link EvictionPolicies} knows
   * @param protectedShare part of the device that SLRU protects at most
   * @param hints whether the tiers learn of closed sessions
   */
  public TierStudy(
      CacheWorkload workload,
      List<String> policies,
      double protectedShare,
      boolean hints,
      HitRateStudy.Listener listener) {
    this.workload = workload;
    this.policies = List.copyOf(policies);
    this.protectedShare = protectedShare;
    this.hints = hints;
    this.listener = listener;
  }

  /**
   * Runs all; takes a file's place in the system's temporary directory for the pages of a disk, 256
   * bytes each.
   *
   * @param devicePages at least 1
   * @param hostPages at least 1
   * @param diskPages 0 for no disk
   */
  public TierRates run(int devicePages, int hostPages, int diskPages) throws InterruptedException {
    List<Callable<TierRates.Row>> cells = new ArrayList<>();
    for (String policy : policies) {
      cells.add(() -> simulate(policy, devicePages, hostPages, diskPages));
    }
    List<TierRates.Row> rows = AllCores.run(cells);
    long unlimited = new OptimalHits(workload).hits(workload.distinctBlocks());
    return new TierRates(
        workload.inputBlocks(), unlimited, devicePages, hostPages, diskPages, rows);
  }

  private TierRates.Row simulate(String policy, int device, int host, int disk) throws IOException {
    try (SimulatedTiers tiers = new SimulatedTiers(device, host, disk)) {
      CacheSimulation.Result result =
          CacheSimulation.run(
              workload, device, EvictionPolicies.of(policy, device, protectedShare), hints, tiers);
      listener.done(done.incrementAndGet(), policies.size());
      return new TierRates.Row(policy, result.hits(), tiers.hostHits(), tiers.diskHits());
    }
  }
}
