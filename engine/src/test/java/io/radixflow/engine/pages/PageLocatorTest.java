package io.radixflow.engine.pages;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests where an engine says that the pages of a text are. */
@Timeout(180)
class PageLocatorTest {
  private static final int PAGE = 16;
  private static final SimOptions SIM = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);

  private final MemoryPageStore store = new MemoryPageStore();

  private ContinuousBatchingEngine open(int hostPages) {
    TierOptions tiers =
        hostPages == 0
            ? TierOptions.NONE
            : TierOptions.NONE
                .withHostBytes(hostPages * PAGE * 8L)
                .withLoadBackThreshold(1)
                .withStore((epoch, bytes) -> store, NamespaceKey.of("secret"));
    return ContinuousBatchingEngine.open(
        SimModel.open(SIM),
        DeviceOptions.DEFAULT,
        EngineOptions.builder().kvPages(30).auditMillis(0).tiers(tiers).build());
  }

  static TierTokens locate(Engine engine, String namespace, int[] text) throws Exception {
    return engine.locate("", namespace, () -> text).get(60, TimeUnit.SECONDS);
  }

  private static void fillTheDevice(EngineClient client) {
    for (int i = 20; i < 23; i++) {
      client.await(client.submit(letters(i, 470), 2));
    }
  }

  @Test
  void pagesOnTheDeviceAreThere() throws Exception {
    try (Engine engine = open(0);
        EngineClient client = new EngineClient(engine)) {
      int[] text = letters(0, 100);
      assertThat(locate(engine, "", text)).isEqualTo(TierTokens.NONE);
      client.await(client.submit(text, 2));
      assertThat(locate(engine, "", text)).isEqualTo(new TierTokens(6 * PAGE, 0, 0, 0));
      fillTheDevice(client);
      assertThat(locate(engine, "", text)).isEqualTo(TierTokens.NONE);
    }
  }

  @Test
  void eachPageCountsForTheFastestTierThatHasIt() throws Exception {
    try (ContinuousBatchingEngine engine = open(200);
        EngineClient client = new EngineClient(engine)) {
      int[] text = letters(0, 200);
      client.await(client.submit(text, 2));
      TieredEngineTest.awaitSettled(engine);
      assertThat(locate(engine, "", text)).isEqualTo(new TierTokens(12 * PAGE, 0, 0, 0));
      fillTheDevice(client);
      TieredEngineTest.awaitSettled(engine);
      assertThat(locate(engine, "", text)).isEqualTo(new TierTokens(0, 12 * PAGE, 0, 0));
      assertThat(engine.onTiers(tiers -> tiers.switches().flush()).join()).isTrue();
      assertThat(locate(engine, "", text)).isEqualTo(new TierTokens(0, 0, 12 * PAGE, 0));
      assertThat(engine.eraseAll().join()).isTrue();
      await().until(() -> store.size() == 0);
      assertThat(locate(engine, "", text)).isEqualTo(TierTokens.NONE);
    }
  }

  @Test
  void aPageAfterAMissingOneIsNotLoaded() throws Exception {
    try (ContinuousBatchingEngine engine = open(200);
        EngineClient client = new EngineClient(engine)) {
      int[] text = letters(0, 200);
      client.await(client.submit(text, 2));
      TieredEngineTest.awaitSettled(engine);
      int[] other = text.clone();
      other[70]++;
      assertThat(locate(engine, "", other)).isEqualTo(new TierTokens(4 * PAGE, 0, 0, 0));
      assertThat(locate(engine, "another", text)).isEqualTo(TierTokens.NONE);
    }
  }

  @Test
  void publicTokensAreFoundInThePublicNamespace() throws Exception {
    try (ContinuousBatchingEngine engine = open(200);
        EngineClient client = new EngineClient(engine)) {
      int[] text = letters(0, 100);
      EngineRequest.PromptSource source =
          new EngineRequest.PromptSource() {
            @Override
            public int[] ids() {
              return text;
            }

            @Override
            public int publicTokens() {
              return 40;
            }
          };
      client.run(EngineRequest.builder("shared", source, 2).namespace("acme").build());
      TieredEngineTest.awaitSettled(engine);
      assertThat(engine.locate("", "acme", source).join())
          .isEqualTo(new TierTokens(6 * PAGE, 0, 0, 0));
      assertThat(engine.locate("", "beta", source).join())
          .isEqualTo(new TierTokens(2 * PAGE, 0, 0, 0));
      assertThat(locate(engine, "acme", text)).isEqualTo(TierTokens.NONE);
    }
  }

  @Test
  void aSlowStoreKeepsNoOtherRequestWaiting() throws Exception {
    try (ContinuousBatchingEngine engine = open(200);
        EngineClient client = new EngineClient(engine)) {
      int[] text = letters(0, 100);
      client.await(client.submit(text, 2));
      TieredEngineTest.awaitSettled(engine);
      engine.onTiers(tiers -> tiers.switches().flush()).join();
      fillTheDevice(client);
      TieredEngineTest.awaitSettled(engine);
      engine.onTiers(tiers -> tiers.switches().flush()).join();
      Semaphore gate = store.slowDownFinds();
      var located = engine.locate("", "", () -> text);
      assertThat(client.await(client.submit(letters(1, 10), 2)).finish).isNotNull();
      assertThat(located).isNotDone();
      gate.release(1000);
      assertThat(located.get(60, TimeUnit.SECONDS)).isEqualTo(new TierTokens(0, 0, 6 * PAGE, 0));
    }
  }

  @Test
  void aTextThatCannotBeMadeFailsTheLookUp() {
    try (Engine engine = open(0)) {
      var located =
          engine.locate(
              "",
              "",
              () -> {
                throw new PromptException(ErrorCode.INVALID_REQUEST, "no text");
              });
      assertThatThrownBy(() -> located.get(60, TimeUnit.SECONDS)).hasMessageContaining("no text");
    }
  }

  @Test
  void theStateFollowsFromThePositions() {
    assertThat(TierTokens.NONE.state(false)).isEqualTo(SlotState.GONE);
    assertThat(new TierTokens(16, 0, 0, 0).state(false)).isEqualTo(SlotState.WARM);
    assertThat(new TierTokens(16, 16, 0, 0).state(false)).isEqualTo(SlotState.COLD);
    assertThat(new TierTokens(0, 0, 16, 0).state(false)).isEqualTo(SlotState.COLD);
    assertThat(new TierTokens(0, 0, 0, 16).state(false)).isEqualTo(SlotState.COLD);
    assertThat(TierTokens.NONE.state(true)).isEqualTo(SlotState.HOT);
  }
}
