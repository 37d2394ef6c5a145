package io.radixflow.engine.tier;

import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Engines;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.schedule.SchedulerRig;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Under write-back a page is copied to host memory when the device needs its room, whatever needs
 * it: requests that grow wait for the copies, the engine thread does not.
 */
@Timeout(180)
class WriteBackTest {
  private static final int PAGE_BYTES = 16 * 8;

  private static final SimOptions SIM =
      SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true).withPipelineDepth(2);

  private FaultyMemory memory;

  private Engine open() {
    SimModel model = SimModel.open(SIM);
    memory = new FaultyMemory(model.openBackend(DeviceOptions.DEFAULT));
    return ContinuousBatchingEngine.open(memory.backend(), model.tokenizer(), options(30).build());
  }

  private static EngineOptions.Builder options(int devicePages) {
    return EngineOptions.builder()
        .kvPages(devicePages)
        .auditMillis(0)
        .tiers(
            TierOptions.NONE
                .withHostBytes(200 * PAGE_BYTES)
                .withLoadBackThreshold(1)
                .withWritePolicy(WritePolicy.WRITE_BACK));
  }

  @Test
  void aRequestThatGrowsPushesPagesToTheHostAndLosesNone() {
    try (Engine engine = open();
        EngineClient client = new EngineClient(engine)) {
      int[] old = letters(0, 200);
      int[] reply = client.await(client.submit(old, 20)).ids();
      client.await(client.submit(letters(1, 100), 370));
      TierStats stats = TieredEngineTest.awaitSettled(engine);
      assertThat(stats.droppedBackups()).isZero();
      assertThat(stats.backedUpPages()).isGreaterThanOrEqualTo(12);
      EngineClient.Seen again = client.await(client.submit(old, 20));
      assertThat(again.usage.tiers().hostTokens()).isEqualTo(192);
      assertThat(again.ids()).isEqualTo(reply);
    }
  }

  @Test
  void requestsThatGrowTogetherPushPagesToTheHostAndLoseNone() {
    try (Engine engine = open();
        EngineClient client = new EngineClient(engine)) {
      int[] old = letters(0, 200);
      client.await(client.submit(old, 20));
      client
          .submitTogether(
              List.of(
                  EngineClient.request(letters(1, 30), SamplingParams.GREEDY, 170),
                  EngineClient.request(letters(2, 30), SamplingParams.GREEDY, 170)))
          .forEach(client::await);
      assertThat(TieredEngineTest.awaitSettled(engine).droppedBackups()).isZero();
      int cached = client.await(client.submit(old, 20)).usage.cachedTokens();
      assertThat(cached).isEqualTo(192);
    }
  }

  /** 13 pages are cached and 17 free: it fills these, and then waits. */
  @Test
  void aRequestThatGrowsWaitsForTheCopyOfAPageAndMeanwhileCanBeCancelled() {
    int tokensOfFreePages = 17 * 16 + 1 - 100;
    try (Engine engine = open();
        EngineClient client = new EngineClient(engine)) {
      int[] old = letters(0, 200);
      client.await(client.submit(old, 20));
      TieredEngineTest.awaitSettled(engine);
      memory.hold(true);
      long growing = client.submit(letters(1, 100), 370);
      client.awaitTokens(growing, tokensOfFreePages);
      for (int turns = 0; turns < 100; turns++) {
        ((ContinuousBatchingEngine) engine).onTiers(Tiers::isMoving).join();
      }
      client.cancel(growing);
      EngineClient.Seen grown = client.await(growing);
      assertThat(grown.finish).isEqualTo(FinishReason.CANCELLED);
      assertThat(grown.tokens).hasSize(tokensOfFreePages);
      memory.hold(false);
      assertThat(TieredEngineTest.awaitSettled(engine).droppedBackups()).isZero();
      int cached = client.await(client.submit(old, 20)).usage.cachedTokens();
      assertThat(cached).isEqualTo(192);
    }
  }

  @Test
  void aRequestThatMustRunAloneDoesSoAfterItHasWaitedForAPage() {
    SchedulerRig rig = new SchedulerRig(options(4).build());
    SchedulerRig.cache(rig.pages, letters(0, 32), "");
    Request suspect = rig.submit(letters(1, 16), 10);
    rig.submit(letters(2, 16), 10);
    assertThat(rig.step()).isEqualTo(32);
    rig.scheduler.suspect(suspect);
    assertThat(rig.step()).as("both lack a page, and copies have not ended").isZero();
    while (rig.pages.tiers().leavingPages() > 0) {
      rig.pages.tiers().poll();
    }
    assertThat(rig.step()).as("rows of the suspect alone").isOne();
    rig.scheduler.trust(suspect);
    assertThat(rig.step()).isEqualTo(2);
    rig.pages.tiers().close();
  }

  @Test
  void failedCopiesCostTheirPagesAndNothingElse() {
    EngineClient.Seen alone;
    int[] prompt = letters(1, 100);
    try (Engine engine = Engines.open(SIM, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      alone = client.await(client.submit(prompt, 370));
    }
    try (Engine engine = open();
        EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(letters(0, 200), 20));
      memory.failCopies(1);
      EngineClient.Seen grown = client.await(client.submit(prompt, 370));
      assertThat(grown.tokens).isEqualTo(alone.tokens);
      assertThat(TieredEngineTest.awaitSettled(engine).droppedBackups()).isPositive();
    }
  }
}
