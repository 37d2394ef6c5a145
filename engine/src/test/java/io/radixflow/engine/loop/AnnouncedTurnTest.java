package io.radixflow.engine.loop;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.engine.tier.loadback.AnnouncementStats;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Turns that are expected, on an engine that finds what another one stored of their conversation:
 * 500 tokens, 31 whole pages, of which the store is asked for 16 at a time.
 */
@Timeout(180)
class AnnouncedTurnTest {
  private static final NamespaceKey KEY = NamespaceKey.of("secret");
  private static final int[] PROMPT = letters(0, 500);
  private static final int PAGES = 31;

  /** Host pages of which a fourth, that may wait to be written, is more than a conversation. */
  private static final int ROOM = 400;

  private final MemoryPageStore store = new MemoryPageStore();

  /** Tokens asked of the device before it first computed ahead; -1 if it never did. */
  private final AtomicInteger outputsBefore = new AtomicInteger(-1);

  private final AtomicInteger outputs = new AtomicInteger();
  private List<Integer> alone;

  private ContinuousBatchingEngine open(PrefetchPolicy policy, int hostPages) {
    return open(policy, hostPages, CacheOptions.DEFAULT);
  }

  private ContinuousBatchingEngine open(PrefetchPolicy policy, int hostPages, CacheOptions cache) {
    TierOptions tiers =
        TierOptions.NONE
            .withHostBytes(hostPages * 16L * 8)
            .withLoadBackThreshold(1)
            .withPrefetch(policy, 16)
            .withStore((epoch, bytes) -> store, KEY);
    return ContinuousBatchingEngine.open(
        SimModel.open(
            SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true).withFault(this::beforeStep)),
        DeviceOptions.DEFAULT,
        EngineOptions.builder().kvPages(60).auditMillis(0).cache(cache).tiers(tiers).build());
  }

  private void beforeStep(Batch batch) {
    if (batch.outputs() == 0) {
      outputsBefore.compareAndSet(-1, outputs.get());
    }
    outputs.addAndGet(batch.outputs());
  }

  private static EngineRequest turn(String session, int[] prompt) {
    return turn(session, prompt, 20, CacheHints.NONE);
  }

  private static EngineRequest turn(String session, int[] prompt, int maxTokens, CacheHints hints) {
    return EngineRequest.builder("test", () -> prompt, maxTokens)
        .session(new SessionRef("acme", session, "main"))
        .service(new ServiceClass("acme", 0, session))
        .hints(hints)
        .build();
  }

  @BeforeEach
  void converse() {
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, ROOM);
        EngineClient client = new EngineClient(engine)) {
      alone = client.run(turn("s", PROMPT)).tokens;
      TieredEngineTest.awaitSettled(engine);
    }
  }

  private static AnnouncementStats stats(Engine engine) {
    return Engines.stats(engine).tiers().announcements();
  }

  private static void awaitFetched(Engine engine, int pages) {
    await().until(() -> stats(engine).pages() == pages);
  }

  /** Pages in host memory, of which 16 come at a time. */
  private static void awaitOnHost(Engine engine, int pages) {
    await().until(() -> engine.stats().tiers().fetchedPages() == pages);
  }

  /** Waits until so many tokens have been computed ahead, and nothing more is to do. */
  private static void awaitAhead(Engine engine, int tokens) {
    await().until(() -> engine.stats().sessions().tokensAhead() == tokens);
    Engines.awaitIdle(engine);
  }

  /** Nothing was computed ahead of the turn. */
  private void assertNothingAhead(Engine engine) {
    assertThat(Engines.stats(engine).sessions().tokensAhead()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void theTurnFindsInHostMemoryWhatWasOnDisk(PrefetchPolicy policy) {
    try (Engine engine = open(policy, 100);
        EngineClient client = new EngineClient(engine)) {
      assertThat(engine.prefetch(turn("s", PROMPT))).isTrue();
      await().until(() -> stats(engine).pages() == PAGES || stats(engine).cutShort() == 1);
      assumeThat(stats(engine).cutShort()).as("cut short after two seconds").isZero();
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.tiers().hostTokens()).isEqualTo(PAGES * 16);
      assertThat(seen.usage.tiers().diskTokens()).isZero();
      TieredEngineTest.awaitSettled(engine);
      assertThat(stats(engine)).isEqualTo(new AnnouncementStats(1, PAGES, 0));
      assertNothingAhead(engine);
    }
  }

  @Test
  void underBestEffortTheTurnStartsAtOnceWithThePagesThatHaveArrived() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.BEST_EFFORT, 100);
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      gate.release();
      awaitOnHost(engine, 16);
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.tiers().hostTokens()).isEqualTo(16 * 16);
      assertThat(seen.usage.tiers().diskTokens()).isZero();
      assertThat(stats(engine)).isEqualTo(new AnnouncementStats(1, 16, 1));
      gate.release(1000);
      TieredEngineTest.awaitSettled(engine);
    }
  }

  @Test
  void underWaitCompleteTheTurnWaitsForAllPages() {
    Semaphore gate = store.slowDown();
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      gate.release();
      awaitOnHost(engine, 16);
      await().until(gate::hasQueuedThreads);
      long waits = client.submit(turn("s", PROMPT));
      await().until(() -> stats(engine).cutShort() == 1);
      assertThat(client.run(turn("other", letters(1, 10))).tokens).hasSize(20);
      client.drain();
      assertThat(client.seen(waits).tokens).isEmpty();
      gate.release(1000);
      EngineClient.Seen seen = client.await(waits);
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.tiers().hostTokens()).isEqualTo(16 * 16);
      assertThat(seen.usage.tiers().diskTokens()).isEqualTo(15 * 16);
      assertThat(TieredEngineTest.awaitSettled(engine).fetchedPages()).isEqualTo(PAGES);
    }
  }

  @Test
  void anAnnouncementTimesOutAndTheTurnComputesItsPages() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.TIMEOUT, 100);
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      gate.release();
      await().until(() -> stats(engine).cutShort() == 1);
      int fetched = (int) stats(engine).pages();
      assertThat(fetched).as("pages that came within two seconds").isIn(0, 16);
      // what has not come is computed, as there is nothing else to do
      awaitAhead(engine, 500 - 16 * fetched);
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.cachedTokens()).isEqualTo(499);
      assertThat(seen.usage.tiers().diskTokens()).isZero();
      gate.release(1000);
      TieredEngineTest.awaitSettled(engine);
    }
  }

  @Test
  void announcementsAskForHalfOfHostMemoryAtMost() {
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, ROOM);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 1; i <= 3; i++) {
        client.run(turn("s" + i, letters(i, 200)));
      }
      TieredEngineTest.awaitSettled(engine);
    }
    int finds = store.finds();
    Semaphore gate = store.slowDown();
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 46);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 1; i <= 3; i++) {
        engine.prefetch(turn("s" + i, letters(i, 200)));
      }
      await().until(() -> stats(engine).begun() == 3 && gate.hasQueuedThreads());
      assertThat(store.finds()).isEqualTo(finds + 1);
      gate.release(1000);
      awaitFetched(engine, 3 * 12);
      assertThat(stats(engine).cutShort()).isZero();
      for (int i = 1; i <= 3; i++) {
        EngineClient.Seen seen = client.run(turn("s" + i, letters(i, 200)));
        assertThat(seen.usage.tiers().hostTokens()).isEqualTo(12 * 16);
      }
    }
  }

  @Test
  void theBeginningOfAConversationLargerThanHostMemoryIsFetched() {
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 40, noneAhead());
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      awaitFetched(engine, 20);
      assertThat(stats(engine)).isEqualTo(new AnnouncementStats(1, 20, 1));
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.tiers().hostTokens()).isEqualTo(20 * 16);
    }
  }

  private static CacheOptions noneAhead() {
    return CacheOptions.DEFAULT.withPrefillWhenIdle(false);
  }

  @Test
  void pagesThatNoTierHasAreComputedWhenTheEngineIsIdle() {
    store.clear();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      outputs.set(0);
      outputsBefore.set(-1);
      long runs = client.submit(turn("other", letters(1, 10), 200, CacheHints.NONE));
      client.awaitTokens(runs, 1);
      engine.prefetch(turn("s", PROMPT));
      assertThat(client.await(runs).tokens).hasSize(200);
      awaitAhead(engine, 500);
      assertThat(outputsBefore.get()).isGreaterThanOrEqualTo(200);
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.cachedTokens()).isEqualTo(499);
    }
  }

  @Test
  void nothingIsComputedAheadIfThatIsTurnedOff() {
    store.clear();
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100, noneAhead());
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      await().until(() -> stats(engine).begun() == 1 && stats(engine).pages() == 0);
      Engines.awaitEmpty(engine);
      assertThat(client.run(turn("s", PROMPT)).usage.cachedTokens()).isZero();
      assertNothingAhead(engine);
    }
  }

  @Test
  void pagesThatTheStoreLacksAreComputedAfterThoseItHas() {
    PageChain chain = PageChain.of(RadixKey.of(PROMPT), 16, 0);
    PageId[] last = {chain.id(30), chain.id(29), chain.id(28)};
    store.remove(last, last.length);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      awaitAhead(engine, 500 - 28 * 16);
      EngineClient.Seen seen = client.run(turn("s", PROMPT));
      assertThat(seen.tokens).isEqualTo(alone);
      assertThat(seen.usage.cachedTokens()).isEqualTo(499);
      assertThat(seen.usage.tiers()).isEqualTo(TierUsage.NONE);
      assertThat(TieredEngineTest.awaitSettled(engine).loadedPages()).isEqualTo(28);
    }
  }

  @Test
  void aPinnedAnnouncementIsBroughtToTheDeviceAndStaysThere() {
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, ROOM);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(2, 100);
      client.run(turn("s2", prompt));
      TieredEngineTest.awaitSettled(engine);
      CacheHints pin = new CacheHints(false, 600_000, List.of(), null);
      engine.prefetch(turn("s2", prompt, 1, pin));
      await().until(() -> engine.stats().sessions().pinnedPages() == 6);
    }
  }

  @Test
  void aClosedSessionEndsItsAnnouncement() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100)) {
      engine.prefetch(turn("s", PROMPT));
      await().until(gate::hasQueuedThreads);
      engine.closeSession("s");
      await().until(() -> stats(engine).cutShort() == 1);
      gate.release(1000);
      TierStats settled = TieredEngineTest.awaitSettled(engine);
      assertThat(settled.fetchedPages()).isEqualTo(16);
      Engines.awaitEmpty(engine);
      assertNothingAhead(engine);
    }
  }

  @Test
  void anErasedTenantEndsItsAnnouncements() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100)) {
      engine.prefetch(turn("s", PROMPT));
      await().until(gate::hasQueuedThreads);
      engine.eraseTenant("beta");
      engine.eraseTenant("acme");
      await().until(() -> stats(engine).cutShort() == 1);
      gate.release(1000);
      TieredEngineTest.awaitSettled(engine);
      assertNothingAhead(engine);
    }
  }

  @Test
  void aSecondAnnouncementOfABranchReplacesTheFirst() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      engine.prefetch(turn("s", PROMPT));
      await().until(gate::hasQueuedThreads);
      engine.prefetch(turn("s", PROMPT));
      await().until(() -> stats(engine).cutShort() == 1);
      gate.release(1000);
      awaitOnHost(engine, PAGES);
      assertThat(client.run(turn("s", PROMPT)).usage.tiers().hostTokens()).isEqualTo(PAGES * 16);
    }
  }

  @Test
  void announcementsBeyondTheBoundAreRefused() {
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100)) {
      engine.prefetch(turn("s", PROMPT));
      await().until(gate::hasQueuedThreads);
      int taken = 1;
      while (taken < 2 * Announcements.MOST && engine.prefetch(turn("s" + taken, PROMPT))) {
        taken++;
      }
      assertThat(taken).isEqualTo(Announcements.MOST);
      gate.release(1000);
      Engines.awaitEmpty(engine);
    }
  }

  @Test
  void anAnnouncementWhosePromptCannotBeMadeIsIgnored() {
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      assertThat(engine.prefetch(turn("s", new int[0]))).isTrue();
      assertThat(engine.prefetch(turn("t", letters(0, 5000)))).isTrue();
      Engines.awaitEmpty(engine);
      assertThat(client.run(turn("s", PROMPT)).tokens).isEqualTo(alone);
    }
  }
}
