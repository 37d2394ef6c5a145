package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineProperties;
import io.radixflow.engine.EngineProperties.Job;
import io.radixflow.engine.EngineProperties.Setup;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.tier.loadback.LoadBackOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever tier a page comes from, and whatever breaks there, a reply is that of a lone run. */
class TieredEngineProperties {

  /** The stores below host memory. */
  enum Stores {
    NONE,
    DISK,
    REMOTE,
    BOTH
  }

  /**
   * The tiers under test.
   *
   * @param hostPages pages of host memory
   * @param threshold for loading and for prefetching, in tokens
   * @param stores which stores there are, which lose pages from round to round
   * @param failEvery which copies between device and host fail
   * @param flipEvery in which rounds bits flip in host memory
   */
  record Tiers(
      int hostPages,
      WritePolicy policy,
      int threshold,
      PrefetchPolicy prefetch,
      Stores stores,
      int failEvery,
      int flipEvery) {

    TierOptions options(Setup setup, MemoryPageStore disk, MemoryPageStore remote) {
      TierOptions options =
          TierOptions.NONE
              .withHostBytes((long) hostPages * setup.pageTokens() * (setup.window() > 0 ? 16 : 8))
              .withWritePolicy(policy)
              .withLoadBackThreshold(threshold)
              .withPrefetch(prefetch, Math.max(1, threshold));
      NamespaceKey key = NamespaceKey.of("secret");
      return switch (stores) {
        case NONE -> options;
        case DISK -> options.withStore((epoch, bytes) -> disk, key);
        case REMOTE -> options.withStore((epoch, bytes) -> remote, key);
        case BOTH -> options.withStore((epoch, bytes) -> disk.over(remote, bytes), key);
      };
    }
  }

  @Property(tries = 150)
  void repliesAreThoseOfALoneRun(
      @ForAll("setups") Setup setup, @ForAll("tiers") Tiers tiers, @ForAll("jobs") List<Job> jobs) {
    List<EngineClient.Seen> alone = new ArrayList<>();
    Setup plain =
        new Setup(16, 0, 256, 1, 1, CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE), 128, 0)
            .withWindow(setup.window(), 1);
    try (Engine engine = plain.open();
        EngineClient client = new EngineClient(engine)) {
      jobs.forEach(job -> alone.add(client.run(job.request())));
    }
    MemoryPageStore disk = new MemoryPageStore();
    MemoryPageStore remote = new MemoryPageStore(KvTier.REMOTE);
    SimModel model = SimModel.open(setup.sim());
    FaultyMemory memory = new FaultyMemory(model.openBackend(DeviceOptions.DEFAULT));
    memory.failCopies(tiers.failEvery);
    EngineOptions options =
        setup.options().toBuilder().tiers(tiers.options(setup, disk, remote)).build();
    try (Engine engine =
            ContinuousBatchingEngine.open(memory.backend(), model.tokenizer(), options);
        EngineClient client = new EngineClient(engine)) {
      for (int round = 0; round < 4; round++) {
        if (tiers.flipEvery > 0 && round % tiers.flipEvery == 1) {
          TieredEngineTest.awaitSettled(engine);
          memory.flipBits();
          disk.lose(3);
          remote.lose(5);
        }
        if (round == 2) {
          disk.clear();
        }
        List<Long> ids = jobs.stream().map(job -> client.submit(job.request())).toList();
        for (int i = 0; i < jobs.size(); i++) {
          if (jobs.get(i).cancelAfter() >= 0 && round < 3) {
            client.awaitTokens(ids.get(i), jobs.get(i).cancelAfter());
            client.cancel(ids.get(i));
          }
        }
        for (int i = 0; i < jobs.size(); i++) {
          String name = setup + " " + tiers + " " + jobs;
          EngineProperties.check(name, jobs.get(i), alone.get(i), client.await(ids.get(i)));
        }
      }
      TieredEngineTest.awaitSettled(engine);
    }
    assertThat(disk.isClosed())
        .isEqualTo(tiers.stores == Stores.DISK || tiers.stores == Stores.BOTH);
    assertThat(remote.isClosed())
        .isEqualTo(tiers.stores == Stores.REMOTE || tiers.stores == Stores.BOTH);
  }

  @Provide
  Arbitrary<List<Job>> jobs() {
    return new EngineProperties().jobs();
  }

  @Provide
  Arbitrary<Setup> setups() {
    Arbitrary<CacheOptions> caches =
        Arbitraries.of(EvictionPolicies.names())
            .map(policy -> new CacheOptions(PrefixCaching.RADIX, policy, 0.5));
    return Combinators.combine(
            Arbitraries.of(1, 4, 8, 16),
            Arbitraries.of(0, 0, 0, 16, 64),
            Arbitraries.of(7, 16, 64),
            Arbitraries.integers().between(1, 8),
            Arbitraries.of(1, 2),
            caches,
            Arbitraries.of(64),
            Arbitraries.of(0, 0, 0, 9))
        .as(Setup::new)
        .flatMap(
            setup ->
                Combinators.combine(Arbitraries.of(0, 3, 17), Arbitraries.of(0.05, 0.4, 1.0))
                    .as(setup::withWindow));
  }

  @Provide
  Arbitrary<Tiers> tiers() {
    return Combinators.combine(
            Arbitraries.of(1, 3, 20, 100, 2000),
            Arbitraries.of(WritePolicy.class),
            Arbitraries.of(LoadBackOptions.BY_COST, 1, 1, 20),
            Arbitraries.of(PrefetchPolicy.class),
            Arbitraries.of(Stores.class),
            Arbitraries.of(0, 0, 3, 1),
            Arbitraries.of(0, 2, 3))
        .as(Tiers::new);
  }
}
