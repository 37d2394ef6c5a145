package io.radixflow.engine.pages;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.engine.tier.WritePolicy;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/**
 * Where an engine says that pages are, against a model that has no tree and no chains: the sets of
 * pages that each tier reports.
 */
class PageLocatorProperties {
  private static final int PAGE = 4;
  private static final int SESSIONS = 4;
  private static final SimOptions SIM = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);

  /** The things that happen between two looks. */
  enum Kind {
    TURN,
    FLUSH_HOST,
    FLUSH_ALL,
    LOSE_STORED
  }

  /**
   * @param session whose turn it is
   * @param length tokens that it adds
   */
  record Step(Kind kind, int session, int length) {}

  /** The end of a run: the pages of device and host, and each session's places. */
  private record Outcome(List<KvEvent.Stored> content, List<TierTokens> places) {}

  @Property(tries = 150)
  void positionsAndStatesEqualThoseOfTheNaiveModel(
      @ForAll("steps") List<Step> steps,
      @ForAll("hostPages") int hostPages,
      @ForAll WritePolicy policy) {
    run(steps, hostPages, policy, new MemoryPageStore(), true);
  }

  /**
   * With LRU, whose order of eviction any use would change; without a store, to which what is
   * written depends on how fast it writes.
   */
  @Property(tries = 100)
  void locatingPagesChangesNoEvictionOrder(
      @ForAll("steps") List<Step> steps, @ForAll @IntRange(min = 30, max = 60) int hostPages) {
    WritePolicy policy = WritePolicy.WRITE_THROUGH;
    assertThat(run(steps, hostPages, policy, null, true))
        .isEqualTo(run(steps, hostPages, policy, null, false));
  }

  private static Outcome run(
      List<Step> steps, int hostPages, WritePolicy policy, MemoryPageStore store, boolean look) {
    TierOptions tiers =
        TierOptions.NONE
            .withHostBytes(hostPages * PAGE * 8L)
            .withWritePolicy(policy)
            .withLoadBackThreshold(1)
            .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1)
            .withStore(store == null ? null : (epoch, bytes) -> store, NamespaceKey.of("secret"));
    EngineOptions options =
        EngineOptions.builder()
            .pageTokens(PAGE)
            .kvPages(16)
            .auditMillis(0)
            .cache(new CacheOptions(PrefixCaching.RADIX, "lru", 0.5))
            .tiers(tiers)
            .build();
    SimModel model = SimModel.open(SIM);
    try (ContinuousBatchingEngine engine =
            ContinuousBatchingEngine.open(
                model, DeviceOptions.DEFAULT, options, (info, room) -> new NoSink(), null);
        EngineClient client = new EngineClient(engine)) {
      int[][] texts = new int[SESSIONS][];
      for (int i = 0; i < SESSIONS; i++) {
        texts[i] = letters(i, 5);
      }
      for (int i = 0; i < steps.size(); i++) {
        apply(steps.get(i), i, engine, client, store, texts);
        TieredEngineTest.awaitSettled(engine);
        if (look) {
          compare(engine, store, texts);
        }
      }
      List<TierTokens> places = compare(engine, store, texts);
      return new Outcome(content(engine), places);
    }
  }

  private static void apply(
      Step step,
      int number,
      ContinuousBatchingEngine engine,
      EngineClient client,
      MemoryPageStore store,
      int[][] texts) {
    switch (step.kind) {
      case TURN -> {
        int[] text = texts[step.session];
        if (text.length + step.length > 50) {
          text = letters(step.session, 5);
        }
        int[] prompt = concat(text, letters(10 + number % 16, step.length));
        texts[step.session] = concat(prompt, client.run(turn(step.session, prompt)).ids());
      }
      case FLUSH_HOST -> engine.onTiers(tiers -> tiers.switches().flush()).join();
      case FLUSH_ALL -> {
        engine.eraseAll().join();
        await().until(() -> store == null || store.size() == 0);
      }
      case LOSE_STORED -> {
        if (store != null) {
          store.lose(3);
        }
      }
    }
  }

  private static EngineRequest turn(int session, int[] prompt) {
    return EngineRequest.builder("s" + session, () -> prompt, 3)
        .session(new SessionRef("", "s" + session, "main"))
        .build();
  }

  private static List<KvEvent.Stored> content(ContinuousBatchingEngine engine) {
    return engine.cacheContent().join().stream()
        .sorted(Comparator.comparing(KvEvent.Stored::tier).thenComparing(KvEvent.Stored::block))
        .toList();
  }

  private static List<TierTokens> compare(
      ContinuousBatchingEngine engine, MemoryPageStore store, int[][] texts) {
    List<KvEvent.Stored> content = content(engine);
    Set<Long> device = blocks(content, KvTier.DEVICE);
    Set<Long> host = blocks(content, KvTier.HOST);
    List<TierTokens> places = new ArrayList<>();
    for (int[] text : texts) {
      PageChain chain = PageChain.of(RadixKey.of(text), PAGE, 0);
      int onDevice = 0;
      while (onDevice < chain.pages() && device.contains(chain.id(onDevice).block())) {
        onDevice++;
      }
      int onHost = onDevice;
      while (onHost < chain.pages() && host.contains(chain.id(onHost).block())) {
        onHost++;
      }
      int stored = onHost;
      while (store != null && stored < chain.pages() && store.has(chain.id(stored))) {
        stored++;
      }
      TierTokens located = engine.locate("", "", () -> text).join();
      TierTokens expected =
          new TierTokens(onDevice * PAGE, (onHost - onDevice) * PAGE, (stored - onHost) * PAGE, 0);
      assertThat(located).isEqualTo(expected);
      assertThat(located.state(false))
          .isEqualTo(
              stored > onDevice ? SlotState.COLD : onDevice > 0 ? SlotState.WARM : SlotState.GONE);
      places.add(located);
    }
    return places;
  }

  private static Set<Long> blocks(List<KvEvent.Stored> content, KvTier tier) {
    return content.stream()
        .filter(page -> page.tier() == tier)
        .map(KvEvent.Stored::block)
        .collect(Collectors.toSet());
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    return Combinators.combine(
            Arbitraries.of(
                Kind.TURN,
                Kind.TURN,
                Kind.TURN,
                Kind.TURN,
                Kind.FLUSH_HOST,
                Kind.FLUSH_ALL,
                Kind.LOSE_STORED),
            Arbitraries.integers().between(0, SESSIONS - 1),
            Arbitraries.integers().between(1, 20))
        .as(Step::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(15);
  }

  @Provide
  Arbitrary<Integer> hostPages() {
    return Arbitraries.of(1, 4, 12, 60, 500);
  }

  /** Makes the engine name its pages; keeps nothing. */
  private static final class NoSink implements KvEventSink {
    @Override
    public boolean wantsTokenIds() {
      return false;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public boolean offerSnapshot(List<KvEvent.Stored> content) {
      return true;
    }

    @Override
    public boolean offer(List<KvEvent> changes) {
      return true;
    }

    @Override
    public long published() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
