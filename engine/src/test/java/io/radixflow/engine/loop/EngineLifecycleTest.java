package io.radixflow.engine.loop;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.FaultyBackend;
import io.radixflow.engine.LosableBackend;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.model.SimFault;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fencing, failing steps, idling and closing. */
@Timeout(180)
class EngineLifecycleTest {
  private static final SimOptions ENDLESS = SimOptions.DEFAULT.withEndOfTurn(0);
  private static final int POISON = 7;

  @Test
  void aNewAttemptFencesTheOneBefore() {
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient other = new EngineClient(engine, new ChannelId("job", 1, 1));
        EngineClient old = new EngineClient(engine, new ChannelId("job", 0, 1))) {
      long lost = old.submit(letters(0, 20), 3000);
      old.awaitTokens(lost, 3);
      long kept = other.submit(letters(1, 20), 300);
      try (EngineClient young = new EngineClient(engine, new ChannelId("job", 0, 2))) {
        assertThat(young.await(young.submit(letters(0, 20), 5)).tokens).hasSize(5);
        int before = old.seen(lost).tokens.size();
        old.drain();
        assertThat(old.seen(lost).tokens).hasSize(before);
        long late = old.submit(letters(0, 20), 5);
        EngineClient older = new EngineClient(engine, new ChannelId("job", 0, 0));
        long zombie = older.submit(letters(0, 20), 5);
        assertThat(other.await(kept).tokens).hasSize(300);
        Engines.awaitIdle(engine);
        old.drain();
        older.drain();
        assertThat(old.seen(late).progresses).isZero();
        assertThat(older.seen(zombie).progresses).isZero();
      }
    }
  }

  @Test
  void aPoisonedRequestEndsInErrorAndTheOthersContinue() {
    List<int[]> alone = new ArrayList<>();
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < 4; i++) {
        alone.add(client.await(client.submit(letters(i, 40), 50)).ids());
      }
    }
    SimOptions faulty = ENDLESS.withPoison(true).withFault(SimFault.onToken(POISON));
    try (Engine engine =
            Engines.open(faulty, EngineOptions.builder().prefillChunk(8).auditMillis(0).build());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        ids.add(client.submit(letters(i, 40), 50));
      }
      int[] poisoned = letters(9, 60);
      poisoned[50] = POISON;
      EngineClient.Seen seen = client.await(client.submit(poisoned, 50));
      assertThat(seen.finish).isEqualTo(FinishReason.ERROR);
      assertThat(seen.error).contains("injected fault");
      for (int i = 0; i < 4; i++) {
        assertThat(client.await(ids.get(i)).ids()).isEqualTo(alone.get(i));
      }
      assertThat(Engines.awaitIdle(engine).steps().failedSteps()).isPositive();
    }
  }

  @Test
  void aStepThatFailsOnceCostsNoReply() {
    int[] alone;
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      alone = client.await(client.submit(letters(0, 40), 50)).ids();
    }
    AtomicInteger steps = new AtomicInteger();
    SimFault everyTenth =
        batch -> {
          if (steps.incrementAndGet() % 10 == 0) {
            throw new IllegalStateException("injected");
          }
        };
    try (Engine engine = Engines.open(ENDLESS.withFault(everyTenth), EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ids.add(client.submit(letters(0, 40), 50));
      }
      ids.forEach(id -> assertThat(client.await(id).ids()).isEqualTo(alone));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aDefectEndsTheRequestsInErrorAndTheEngineRestarts(int depth) {
    SimModel model = SimModel.open(ENDLESS.withPipelineDepth(depth));
    FaultyBackend backend = new FaultyBackend(model.openBackend(DeviceOptions.DEFAULT));
    try (Engine engine =
            ContinuousBatchingEngine.open(
                backend.backend(), model.tokenizer(), EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      int[] alone = client.await(client.submit(letters(0, 40), 50)).ids();
      long running = client.submit(letters(1, 40), 3000);
      client.awaitTokens(running, 3);
      backend.breakTickets(true);
      EngineClient.Seen seen = client.await(running);
      assertThat(seen.finish).isEqualTo(FinishReason.ERROR);
      assertThat(seen.error).contains("broken ticket");
      backend.breakTickets(false);
      assertThat(client.await(client.submit(letters(0, 40), 50)).ids()).isEqualTo(alone);
      Engines.awaitIdle(engine);
    }
  }

  @Test
  void anEngineThatCannotRestartIsLost() {
    SimModel model = SimModel.open(ENDLESS);
    FaultyBackend backend = new FaultyBackend(model.openBackend(DeviceOptions.DEFAULT));
    try (Engine engine =
            ContinuousBatchingEngine.open(
                backend.backend(), model.tokenizer(), EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      long running = client.submit(letters(1, 40), 3000);
      client.awaitTokens(running, 3);
      backend.breakPool();
      backend.breakTickets(true);

      await().until(() -> engine.lost() != null);
      assertThat(engine.lost()).hasMessageContaining("no room for tables");
      assertThatThrownBy(() -> client.await(running)).hasRootCauseMessage("no room for tables");
    }
    await().until(() -> threads().stream().noneMatch(t -> t.getName().equals("radixflow-engine")));
  }

  @Test
  void anIdleEngineSleepsAndWakes() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < 3; i++) {
        await().until(() -> engineThread().getState() == Thread.State.TIMED_WAITING);
        assertThat(client.await(client.submit(letters(i, 10), 5)).error).isNull();
      }
    }
  }

  private static Thread engineThread() {
    return threads().stream()
        .filter(thread -> thread.getName().equals("radixflow-engine"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void closingEndsRunningRequestsAndAllThreads() {
    EngineClient client;
    long running;
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT)) {
      client = new EngineClient(engine);
      running = client.submit(letters(0, 20), 4000);
      client.awaitTokens(running, 3);
    }
    assertThat(client.await(running).finish).isEqualTo(FinishReason.CANCELLED);
    // an executor has terminated before its last thread is gone
    await()
        .untilAsserted(
            () ->
                assertThat(
                        threads().stream()
                            .map(Thread::getName)
                            .filter(name -> name.startsWith("radixflow-"))
                            .collect(Collectors.toSet()))
                    .isEmpty());
  }

  @Test
  void aClosedEngineRefusesRequestsAndMayBeClosedAgain() {
    Engine engine = Engines.open(EngineOptions.builder());
    EngineClient before = new EngineClient(engine);
    engine.close();
    engine.close();
    EngineClient after = new EngineClient(engine, new ChannelId("late", 0, 0));
    for (EngineClient client : List.of(before, after)) {
      long id = client.submit(letters(0, 10), 5);
      client.cancel(id);
      client.drain();
      assertThat(client.seen(id).tokens).isEmpty();
    }
  }

  @Test
  void aLiveRequestsIdCannotBeUsedAgain() {
    EngineRequest request = EngineClient.request(letters(0, 5), SamplingParams.GREEDY, 4000);
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        ReplyChannel channel = engine.openChannel(new ChannelId("test", 0, 0), () -> {})) {
      engine.submit(channel, 1, request);
      assertThatThrownBy(() -> engine.submit(channel, 1, request))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("1");
    }
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet();
  }

  @Test
  void anIdleEngineNoticesThatItsDeviceIsLostAndNotifiesItsConsumers() {
    SimModel model = SimModel.open(SimOptions.DEFAULT);
    LosableBackend losable = new LosableBackend(model.openBackend(DeviceOptions.DEFAULT));
    AtomicInteger notified = new AtomicInteger();
    try (Engine engine =
            ContinuousBatchingEngine.open(
                losable.backend(), model.tokenizer(), EngineOptions.DEFAULT);
        ReplyChannel channel =
            engine.openChannel(new ChannelId("job", 0, 0), notified::incrementAndGet)) {
      assertThat(engine.lost()).isNull();
      losable.lose();

      await().until(() -> engine.lost() != null && notified.get() > 0);
      assertThat(engine.lost()).hasMessageContaining("idle");
    }
  }
}
