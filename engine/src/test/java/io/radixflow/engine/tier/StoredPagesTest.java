package io.radixflow.engine.tier;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pages that go through host memory to a store, and come back to the same or another engine. */
@Timeout(180)
class StoredPagesTest {
  private static final SimOptions SIM = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);
  private static final long PAGE_BYTES = 16 * 8;
  private static final NamespaceKey KEY = NamespaceKey.of("secret");

  private final MemoryPageStore store = new MemoryPageStore();

  private ContinuousBatchingEngine open(PrefetchPolicy policy, int hostPages) {
    TierOptions tiers =
        tiers(store).withHostBytes(Math.max(1, hostPages * PAGE_BYTES)).withPrefetch(policy, 16);
    return ContinuousBatchingEngine.open(
        SimModel.open(SIM),
        DeviceOptions.DEFAULT,
        EngineOptions.builder().kvPages(40).auditMillis(0).tiers(tiers).build());
  }

  private static TierOptions tiers(PageStore store) {
    return TierOptions.NONE
        .withHostBytes(100 * PAGE_BYTES)
        .withLoadBackThreshold(1)
        .withStore((epoch, bytes) -> store, KEY);
  }

  private static EngineRequest request(String namespace, String tenant, int[] prompt) {
    return EngineRequest.builder("test", () -> prompt, 20)
        .namespace(namespace)
        .service(new ServiceClass(tenant, 0, ""))
        .build();
  }

  @Test
  void anotherEngineFindsThePagesOfAnEarlierOne() {
    // a quarter of host memory may wait to be written: enough for all pages at once
    int[] prompt = letters(0, 500);
    int[] alone;
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      alone = client.await(client.submit(prompt, 20)).ids();
      TieredEngineTest.awaitSettled(engine);
    }
    PageChain chain = PageChain.of(RadixKey.of(prompt), 16, 0);
    for (int i = 0; i < chain.pages(); i++) {
      assertThat(store.has(chain.id(i))).isTrue();
    }
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen seen = client.await(client.submit(prompt, 20));
      assertThat(seen.ids()).isEqualTo(alone);
      assertThat(seen.usage.cachedTokens()).isEqualTo(496);
      assertThat(seen.usage.tiers().diskTokens()).isEqualTo(496);
      assertThat(TieredEngineTest.awaitSettled(engine).fetchedPages()).isEqualTo(31);
    }
  }

  @Test
  void aRegeneratedReplyReplacesThePagesOfTheOneBefore() {
    int[] prompt = letters(0, 64);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      int[] first = Engines.concat(prompt, client.run(turn(prompt, 1, 100)).ids());
      TieredEngineTest.awaitSettled(engine);
      PageChain old = PageChain.of(RadixKey.of(first), 16, 0);
      assertThat(store.has(old.id(5))).isTrue();

      int[] second = Engines.concat(prompt, client.run(turn(prompt, 2, 100)).ids());
      assertThat(second).isNotEqualTo(first);
      PageChain now = PageChain.of(RadixKey.of(second), 16, 0);
      await().until(() -> pagesOf(old, 4) == 0 && pagesOf(now, 4) > 0);
      assertThat(pagesOf(now, 0)).as("the prompt stays, too").isGreaterThan(4);
    }
  }

  @Test
  void aSessionThatIsClosedWhileItsTurnRunsLeavesNothing() {
    int[] prompt = letters(0, 64);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      long running = client.submit(turn(prompt, 1, 400));
      await().until(() -> store.size() >= 4);
      engine.closeSession("session");
      client.cancel(running);
      assertThat(client.await(running).finish).isEqualTo(FinishReason.CANCELLED);
      await().until(() -> store.size() == 0 && engine.stats().tiers().usedHostPages() == 0);
    }
  }

  private long pagesOf(PageChain chain, int from) {
    return IntStream.range(from, chain.pages()).filter(i -> store.has(chain.id(i))).count();
  }

  private static EngineRequest turn(int[] prompt, long seed, int maxTokens) {
    return EngineRequest.builder("test", () -> prompt, maxTokens)
        .sampling(new SamplingParams(1f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), seed, -1))
        .session(new SessionRef("tenant", "session", "main"))
        .build();
  }

  @Test
  void anEngineThatFailsToOpenClosesItsStore() {
    assertThatThrownBy(() -> open(PrefetchPolicy.WAIT_COMPLETE, 0))
        .hasMessageContaining("holds no page");
    assertThat(store.isClosed()).isTrue();
  }

  @Test
  void anEngineWhoseEventSinkFailsToOpenClosesItsStoreAndThreads() {
    MemoryPageStore other = new MemoryPageStore();
    KvEventSink.Factory failing =
        (info, wake) -> {
          throw new IllegalStateException("no topic");
        };
    assertThatThrownBy(
            () ->
                ContinuousBatchingEngine.open(
                    SimModel.open(SIM),
                    DeviceOptions.DEFAULT,
                    EngineOptions.builder().kvPages(40).tiers(tiers(other)).build(),
                    failing,
                    null))
        .hasMessage("no topic");
    assertThat(other.isClosed()).isTrue();
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("radixflow-")));
  }

  @Test
  void pagesKnowTheirParentNamespaceAndTenant() {
    String namespace = KEY.namespace("acme", "", "");
    int[] prompt = letters(0, 64);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      client.run(request(namespace, "acme", prompt));
      TieredEngineTest.awaitSettled(engine);
      PageChain chain =
          PageChain.of(new RadixKey(namespace, prompt, 64), 16, KEY.tenantTag("acme"));
      for (int i = 0; i < 4; i++) {
        assertThat(store.page(chain.id(i)).tenant()).isEqualTo(KEY.tenantTag("acme"));
        assertThat(store.page(chain.id(i)).namespace())
            .isEqualTo(PageHasher.publishedName(namespace));
        assertThat(store.page(chain.id(i)).parent()).isEqualTo(i == 0 ? null : chain.id(i - 1));
      }
    }
  }

  @Test
  void aTenantNeverGetsAnothersPages() {
    int[] prompt = letters(0, 200);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      client.run(request(KEY.namespace("acme", "", ""), "acme", prompt));
      TieredEngineTest.awaitSettled(engine);
    }
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      assertThat(client.run(request(KEY.namespace("other", "", ""), "other", prompt)).usage.tiers())
          .isEqualTo(TierUsage.NONE);
      assertThat(client.run(request("", "", prompt)).usage.tiers()).isEqualTo(TierUsage.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BEST_EFFORT", "TIMEOUT"})
  void aSlowStoreDoesNotStopTurns(PrefetchPolicy policy) throws InterruptedException {
    int[] prompt = letters(0, 200);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(prompt, 20));
      TieredEngineTest.awaitSettled(engine);
    }
    Semaphore gate = store.slowDown();
    try (Engine engine = open(policy, 100);
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen other = client.await(client.submit(letters(1, 10), 5));
      assertThat(other.tokens).hasSize(5);
      EngineClient.Seen seen = client.await(client.submit(prompt, 20));
      assertThat(seen.tokens).hasSize(20);
      assertThat(seen.usage.tiers().diskTokens()).isZero();
      gate.release(1000);
      TieredEngineTest.awaitSettled(engine);
    }
  }

  @Test
  void aRequestThatWaitsForItsPagesIsSkipped() throws InterruptedException {
    int[] prompt = letters(0, 200);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(prompt, 20));
      TieredEngineTest.awaitSettled(engine);
    }
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      long waits = client.submit(prompt, 20);
      await().until(() -> store.finds() > 1 && gate.hasQueuedThreads());
      assertThat(client.await(client.submit(letters(1, 10), 5)).tokens).hasSize(5);
      assertThat(client.seen(waits).tokens).isEmpty();
      gate.release(1000);
      assertThat(client.await(waits).usage.tiers().diskTokens()).isEqualTo(192);
    }
  }

  @Test
  void pagesThatASlowStoreRefusesAreDroppedAndOfferedAgain() {
    Semaphore gate = store.slowDown();
    int[] prompt = letters(0, 400);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 40);
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(prompt, 20));
      await().until(() -> engine.stats().tiers().droppedWrites() > 0);
      gate.release(1000);
      TieredEngineTest.awaitSettled(engine);
      int before = store.size();
      for (int i = 0; i < 5; i++) {
        client.await(client.submit(prompt, 20));
        TieredEngineTest.awaitSettled(engine);
      }
      assertThat(store.size()).isGreaterThan(before);
    }
  }

  @Test
  void requestsThatShareStoredPagesGetThemTogether() {
    int[] shared = letters(0, 160);
    List<int[]> prompts =
        List.of(
            Engines.concat(shared, letters(1, 80)),
            Engines.concat(shared, letters(2, 80)),
            Engines.concat(shared, letters(3, 80)));
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      prompts.forEach(prompt -> client.await(client.submit(prompt, 2)));
      TieredEngineTest.awaitSettled(engine);
    }
    Semaphore gate = store.slowDown();
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 200);
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = prompts.stream().map(prompt -> client.submit(prompt, 2)).toList();
      await().until(gate::hasQueuedThreads);
      gate.release(1000);
      for (long id : ids) {
        assertThat(client.await(id).usage.cachedTokens()).isGreaterThanOrEqualTo(224);
      }
      assertThat(TieredEngineTest.awaitSettled(engine).fetchedPages()).isEqualTo(10 + 3 * 4);
    }
  }

  @Test
  void aStoreThatFailsIsAMiss() {
    int[] prompt = letters(0, 200);
    int[] alone;
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      alone = client.await(client.submit(prompt, 20)).ids();
      TieredEngineTest.awaitSettled(engine);
    }
    store.fail(true);
    try (Engine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen seen = client.await(client.submit(prompt, 20));
      assertThat(seen.ids()).isEqualTo(alone);
      assertThat(seen.usage.cachedTokens()).isZero();
      TieredEngineTest.awaitSettled(engine);
    }
  }

  @Test
  void devicePagesOfAnErasedTextAreCopiedOnlyAfterAnotherUse() throws Exception {
    int[] forgotten = letters(0, 200);
    PageChain chain = PageChain.of(RadixKey.of(forgotten), 16, 0);
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 60);
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(forgotten, 5));
      TieredEngineTest.awaitSettled(engine);
      assertThat(pagesOf(chain, 0)).isEqualTo(chain.pages());
      assertThat(engine.erase(() -> PageId.bytes(List.of(chain.from(0)))).get(60, TimeUnit.SECONDS))
          .isTrue();
      assertThat(pagesOf(chain, 0)).isZero();
      for (int other = 1; other < 4; other++) {
        client.await(client.submit(letters(other, 350), 5));
      }
      TieredEngineTest.awaitSettled(engine);
      assertThat(Engines.stats(engine).pool().evictedPages()).isPositive();
      assertThat(pagesOf(chain, 0)).isZero();
      // room in host memory, where all pages are of others
      await().until(() -> engine.onTiers(tiers -> tiers.switches().flush()).get());
      // a writer that falls behind drops pages, which the next use offers again
      await()
          .until(
              () -> {
                client.await(client.submit(forgotten, 5));
                TieredEngineTest.awaitSettled(engine);
                return pagesOf(chain, 0) == chain.pages();
              });
    }
  }

  @Test
  void storesAreAttachedAndDetachedWhileTurnsRun() throws Exception {
    int[] prompt = letters(0, 200);
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      MemoryPageStore second = new MemoryPageStore();
      assertThat(
              engine
                  .onTiers(tiers -> tiers.switches().attachStore(second))
                  .get(60, TimeUnit.SECONDS))
          .isFalse();
      long running = client.submit(prompt, 200);
      client.awaitTokens(running, 5);
      engine
          .onTiers(tiers -> tiers.switches().detachStore())
          .get(60, TimeUnit.SECONDS)
          .get(60, TimeUnit.SECONDS);
      assertThat(store.isClosed()).isTrue();
      assertThat(engine.onTiers(tiers -> tiers.switches().detachStore()).get(60, TimeUnit.SECONDS))
          .isNull();
      assertThat(
              engine
                  .onTiers(tiers -> tiers.switches().attachStore(second))
                  .get(60, TimeUnit.SECONDS))
          .isTrue();
      client.await(running);
      TieredEngineTest.awaitSettled(engine);
      client.await(client.submit(prompt, 200));
      TierStats stats = TieredEngineTest.awaitSettled(engine);
      assertThat(stats.store().pages()).isEqualTo(second.size()).isPositive();
    }
  }

  @Test
  void hostMemoryIsFlushedAndResizedAndATenantIsErased() throws Exception {
    String acme = KEY.namespace("acme", "", "");
    try (ContinuousBatchingEngine engine = open(PrefetchPolicy.WAIT_COMPLETE, 100);
        EngineClient client = new EngineClient(engine)) {
      client.run(request(acme, "acme", letters(0, 100)));
      client.run(request("", "", letters(1, 100)));
      TieredEngineTest.awaitSettled(engine);
      engine
          .onTiers(
              tiers -> {
                tiers.eraseTenant("acme");
                return true;
              })
          .get(60, TimeUnit.SECONDS);
      await().until(() -> store.size() == 7);
      assertThat(TieredEngineTest.awaitSettled(engine).usedHostPages()).isEqualTo(7);
      int kept = engine.switches().resizeHost(50 * 16 * 8, false);
      assertThat(kept).isEqualTo(7);
      assertThat(engine.eraseAll().get(60, TimeUnit.SECONDS)).isTrue();
      await().until(() -> store.size() == 0);
      client.run(request("", "", letters(2, 100)));
      TierStats stats = TieredEngineTest.awaitSettled(engine);
      assertThat(stats.hostPages()).isEqualTo(50);
      assertThat(stats.usedHostPages()).isEqualTo(7);
    }
  }
}
