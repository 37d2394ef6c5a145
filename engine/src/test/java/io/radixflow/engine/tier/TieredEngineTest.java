package io.radixflow.engine.tier;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.FaultyBackend;
import io.radixflow.engine.LosableBackend;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimFault;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An engine with host memory under a small device gives the replies of one without.
 *
 * <p>Of SGLang's cases of its hierarchical cache: U24 to U26 are in {@link TieredKvEventsTest}, U27
 * and U28 in {@link StoredPagesTest}, U31 and U33 here, U32 and U34 in {@code HostTierProperties},
 * U29, U30, U35 and U36 in {@code DeviceAndHostProperties}. One part of U29 has no place here: a
 * page that the host has no room for does not stay on the device, as who evicts needs its room, and
 * a page cannot be demoted without a copy, as the tree has no nodes of pages that it does not have.
 */
@Timeout(180)
public class TieredEngineTest {
  private static final int PAGE_BYTES = 16 * 8;
  private static final SimOptions SIM = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);

  private static final SimModel MODEL = SimModel.open(SIM);

  private static EngineOptions.Builder options(int devicePages, int hostPages) {
    return EngineOptions.builder()
        .kvPages(devicePages)
        .auditMillis(0)
        .tiers(
            TierOptions.NONE.withHostBytes((long) hostPages * PAGE_BYTES).withLoadBackThreshold(1));
  }

  private static Engine open(FaultyMemory memory, int devicePages) {
    return ContinuousBatchingEngine.open(
        memory.backend(), MODEL.tokenizer(), options(devicePages, 200).build());
  }

  /** Waits until no page is on its way anywhere, then checks that each has one owner. */
  public static TierStats awaitSettled(Engine engine) {
    await().until(() -> Engines.stats(engine), TieredEngineTest::isSettled);
    return Engines.awaitIdle(engine).tiers();
  }

  private static boolean isSettled(EngineStats stats) {
    return Engines.isIdle(stats) && stats.tiers().queuedPages() == 0;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aConversationWhosePagesHaveLeftTheDeviceContinuesFromHostMemory(int depth) {
    int[] prompt = letters(0, 300);
    EngineClient.Seen alone;
    try (Engine engine = Engines.open(SIM, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      alone = client.await(client.submit(prompt, 40));
    }
    try (Engine engine = Engines.open(SIM.withPipelineDepth(depth), options(30, 200).build());
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(prompt, 40));
      awaitSettled(engine);
      for (int i = 1; i < 4; i++) {
        client.await(client.submit(letters(i, 300), 40));
      }
      long computed = awaitSettledTokens(engine);
      EngineClient.Seen again = client.await(client.submit(prompt, 40));
      assertThat(again.tokens).isEqualTo(alone.tokens);
      TierStats stats = awaitSettled(engine);
      assertThat(stats.loadedPages()).isEqualTo(18);
      assertThat(Engines.stats(engine).steps().prefilledTokens() - computed)
          .isEqualTo(300 - 18 * 16);
      assertThat(again.usage.cachedTokens()).isEqualTo(18 * 16);
    }
  }

  private static long awaitSettledTokens(Engine engine) {
    awaitSettled(engine);
    return Engines.stats(engine).steps().prefilledTokens();
  }

  @Test
  void noTokenThatMayEndTheProcessIsComputedBeforeAnythingIsServed() {
    Set<Integer> computed = ConcurrentHashMap.newKeySet();
    SimFault seen =
        batch -> IntStream.range(0, batch.rows()).map(batch::rowToken).forEach(computed::add);
    try (Engine engine = Engines.open(SIM.withFault(seen), options(30, 200).build())) {
      awaitSettled(engine);
      assertThat(computed).containsExactly(0);
    }
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> SimOptions.parse(":deadly=0"));
  }

  @Test
  void pagesOfTheReplyAreOnTheHostToo() {
    int[] prompt = letters(0, 100);
    try (Engine engine = Engines.open(SIM, options(30, 200).build());
        EngineClient client = new EngineClient(engine)) {
      int[] reply = client.await(client.submit(prompt, 60)).ids();
      client.await(client.submit(letters(1, 300), 40));
      client.await(client.submit(letters(2, 300), 40));
      awaitSettled(engine);
      int[] next = concat(prompt, reply, letters(3, 20));
      EngineClient.Seen seen = client.await(client.submit(next, 5));
      assertThat(seen.usage.cachedTokens()).isEqualTo((100 + 59) / 16 * 16);
    }
  }

  /** Pushes everything that is not locked off a device of 30 pages. */
  private static void fillTheDevice(Engine engine, EngineClient client) {
    for (int i = 20; i < 23; i++) {
      client.await(client.submit(letters(i, 470), 2));
    }
    awaitSettled(engine);
  }

  @Test
  void everyWritePolicyKeepsWhatItShould() {
    for (WritePolicy policy : WritePolicy.values()) {
      EngineOptions.Builder options = options(30, 200);
      TierOptions tiers =
          TierOptions.NONE
              .withHostBytes(200 * PAGE_BYTES)
              .withLoadBackThreshold(1)
              .withWritePolicy(policy);
      try (Engine engine = Engines.open(SIM, options.tiers(tiers).build());
          EngineClient client = new EngineClient(engine)) {
        int[] once = letters(0, 100);
        int[] twice = letters(1, 100);
        client.await(client.submit(once, 2));
        client.await(client.submit(twice, 2));
        client.await(client.submit(twice, 2));
        TierStats before = awaitSettled(engine);
        int inTree = 12;
        assertThat(before.backedUpPages())
            .isEqualTo(
                switch (policy) {
                  case WRITE_THROUGH -> inTree;
                  case WRITE_THROUGH_SELECTIVE -> inTree / 2;
                  case WRITE_BACK -> 0;
                });
        fillTheDevice(engine, client);
        int cachedOnce = client.await(client.submit(once, 2)).usage.cachedTokens();
        int cachedTwice = client.await(client.submit(twice, 2)).usage.cachedTokens();
        assertThat(cachedOnce).isEqualTo(policy == WritePolicy.WRITE_THROUGH_SELECTIVE ? 0 : 96);
        assertThat(cachedTwice).isEqualTo(96);
        awaitSettled(engine);
      }
    }
  }

  @Test
  void aHostSmallerThanTheDeviceHoldsWhatTheDeviceDoesNot() {
    try (Engine engine = Engines.open(SIM, options(30, 10).build());
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < 12; i++) {
        client.await(client.submit(letters(i % 3, 200), 2));
        TierStats stats = awaitSettled(engine);
        assertThat(stats.usedHostPages()).isLessThanOrEqualTo(10);
      }
      assertThat(Engines.stats(engine).tiers().loadedPages()).isPositive();
    }
  }

  @Test
  void flippedBitsOfHostMemoryAreMissesAndNoTokenIsWrong() {
    FaultyMemory memory = new FaultyMemory(MODEL.openBackend(DeviceOptions.DEFAULT));
    try (Engine engine = open(memory, 30);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 200);
      int[] alone = client.await(client.submit(prompt, 20)).ids();
      fillTheDevice(engine, client);
      memory.flipBits();
      EngineClient.Seen again = client.await(client.submit(prompt, 20));
      assertThat(again.ids()).isEqualTo(alone);
      assertThat(again.usage.cachedTokens()).isZero();
      assertThat(awaitSettled(engine).misses()).containsEntry(MissReason.CHECKSUM, 12L);
    }
  }

  @Test
  void pagesWhoseCopyToTheDeviceFailsAreComputed() {
    FaultyMemory memory = new FaultyMemory(MODEL.openBackend(DeviceOptions.DEFAULT));
    try (Engine engine = open(memory, 30);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 200);
      int[] alone = client.await(client.submit(prompt, 20)).ids();
      fillTheDevice(engine, client);
      memory.failCopies(1);
      assertThat(client.await(client.submit(prompt, 20)).ids()).isEqualTo(alone);
      memory.failCopies(0);
      TierStats stats = awaitSettled(engine);
      assertThat(stats.failedTransfers()).isPositive();
      assertThat(stats.loadedPages()).isZero();
      fillTheDevice(engine, client);
      assertThat(client.await(client.submit(prompt, 20)).ids()).isEqualTo(alone);
      assertThat(awaitSettled(engine).loadedPages()).isPositive();
    }
  }

  @Test
  void turnsContinueWhileCopiesDoNotEnd() {
    FaultyMemory memory = new FaultyMemory(MODEL.openBackend(DeviceOptions.DEFAULT));
    try (Engine engine = open(memory, 60);
        EngineClient client = new EngineClient(engine)) {
      memory.hold(true);
      for (int i = 0; i < 3; i++) {
        assertThat(client.await(client.submit(letters(i, 100), 20)).tokens).hasSize(20);
      }
      memory.hold(false);
      assertThat(awaitSettled(engine).backedUpPages()).isEqualTo(3 * ((100 + 19) / 16));
    }
  }

  @Test
  void anEngineThatIsResetWithCopiesInFlightContinues() {
    FaultyBackend tickets = new FaultyBackend(MODEL.openBackend(DeviceOptions.DEFAULT));
    FaultyMemory memory = new FaultyMemory(tickets.backend());
    try (Engine engine = open(memory, 30);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 200);
      int[] alone = client.await(client.submit(prompt, 20)).ids();
      fillTheDevice(engine, client);
      memory.hold(true);
      tickets.breakTickets(true);
      assertThat(client.await(client.submit(prompt, 20)).finish).isEqualTo(FinishReason.ERROR);
      tickets.breakTickets(false);
      memory.hold(false);
      EngineClient.Seen again = client.await(client.submit(prompt, 20));
      assertThat(again.ids()).isEqualTo(alone);
      assertThat(again.usage.cachedTokens()).as("the host keeps what it had").isEqualTo(192);
      awaitSettled(engine);
    }
  }

  @Test
  void anEngineWhoseDeviceIsLostCloses() {
    LosableBackend losable = new LosableBackend(MODEL.openBackend(DeviceOptions.DEFAULT));
    FaultyMemory memory = new FaultyMemory(losable.backend());
    Engine engine = open(memory, 30);
    try (EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(letters(0, 200), 20));
      memory.hold(true);
      losable.lose(engine);
    }
    engine.close();
    assertThat(engine.lost()).isNotNull();
  }

  @Test
  void aClosedSessionsPagesLeaveTheHostAndSharedOnesStay() {
    try (Engine engine = Engines.open(SIM, options(30, 200).build());
        EngineClient client = new EngineClient(engine)) {
      int[] shared = letters(0, 64);
      int[] kept = concat(shared, letters(1, 64));
      int[] erased = concat(shared, letters(2, 64));
      client.run(turn("kept", kept));
      client.run(turn("erased", erased));
      fillTheDevice(engine, client);
      int before = awaitSettled(engine).usedHostPages();
      engine.closeSession("erased");
      await().until(() -> engine.stats().tiers().usedHostPages() == before - 4);
      assertThat(client.run(turn("other", erased)).usage.cachedTokens()).isEqualTo(64);
      assertThat(client.run(turn("kept", kept)).usage.cachedTokens()).isEqualTo(112);
    }
  }

  private static EngineRequest turn(String session, int[] prompt) {
    return EngineRequest.builder(session, () -> prompt, 2)
        .session(new SessionRef("tenant", session, "main"))
        .build();
  }

  @Test
  void usageCountsTokensThatCameFromTheHost() {
    try (Engine engine = Engines.open(SIM, options(30, 200).build());
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 200);
      client.await(client.submit(prompt, 2));
      assertThat(client.await(client.submit(prompt, 2)).usage.tiers()).isEqualTo(TierUsage.NONE);
      fillTheDevice(engine, client);
      TierUsage tiers = client.await(client.submit(prompt, 2)).usage.tiers();
      assertThat(tiers.hostTokens()).isEqualTo(192);
      assertThat(tiers.diskTokens()).isZero();
      assertThat(tiers.micros()).isPositive();
    }
  }

  /** U31: a prompt that goes another way after two of four pages gets these two. */
  @Test
  void aPromptThatSharesPagesOfTheHostGetsThose() {
    try (Engine engine = Engines.open(SIM, options(30, 200).build());
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 64);
      client.await(client.submit(prompt, 2));
      fillTheDevice(engine, client);
      int[] other = concat(Arrays.copyOf(prompt, 32), letters(9, 40));
      assertThat(client.await(client.submit(other, 2)).usage.tiers().hostTokens()).isEqualTo(32);
      fillTheDevice(engine, client);
      int[] longer = concat(prompt, letters(8, 20));
      assertThat(client.await(client.submit(longer, 2)).usage.tiers().hostTokens()).isEqualTo(64);
    }
  }
}
