package io.radixflow.engine.loop;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineHold;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests that do not fit, pools that run out, consumers that are slow, callers that give up. */
@Timeout(180)
class EngineLimitsTest {
  private static final SimOptions ENDLESS = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);

  @Test
  void aPromptBeyondTheContextIsRejectedWithTheNumbers() {
    try (Engine engine = Engines.open(EngineOptions.builder().kvPages(8).pageTokens(16));
        EngineClient client = new EngineClient(engine)) {
      assertThat(engine.info().contextLength()).isEqualTo(128);
      EngineClient.Seen seen = client.await(client.submit(letters(0, 128), 5));
      assertThat(seen.finish).isEqualTo(FinishReason.REJECTED);
      assertThat(seen.error).contains("128 tokens");
      assertThat(client.await(client.submit(letters(0, 127), 5)).tokens).hasSize(1);
      assertThat(client.await(client.submit(letters(0, 100), 500)).finish)
          .isIn(FinishReason.LENGTH, FinishReason.STOP);
    }
  }

  @Test
  void invalidRequestsAreRejectedAndSayWhy() {
    SamplingParams farBias = new SamplingParams(0f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(9999, 1f), 0, -1);
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      assertRejected(client, EngineClient.request(new int[0], SamplingParams.GREEDY, 5), "empty");
      assertRejected(
          client, EngineClient.request(new int[] {300}, SamplingParams.GREEDY, 5), "token id 300");
      assertRejected(
          client, EngineClient.request(new int[] {65}, SamplingParams.GREEDY, -1), "max_tokens");
      assertRejected(client, EngineClient.request(new int[] {65}, farBias, 5), "9999");
      assertRejected(
          client,
          withPrompt(
              () -> {
                throw new PromptException(ErrorCode.INVALID_REQUEST, "the history is gone");
              }),
          "the history is gone");
      EngineClient.Seen broken =
          client.run(
              withPrompt(
                  () -> {
                    throw new IllegalStateException("defect");
                  }));
      assertThat(broken.finish).isEqualTo(FinishReason.ERROR);
      assertThat(client.await(client.submit(letters(0, 5), 5)).error).isNull();
      Engines.awaitIdle(engine);
    }
  }

  private static EngineRequest withPrompt(EngineRequest.PromptSource source) {
    return EngineRequest.builder("test", source, 5).build();
  }

  private static void assertRejected(EngineClient client, EngineRequest request, String why) {
    EngineClient.Seen seen = client.run(request);
    assertThat(seen.finish).isEqualTo(FinishReason.REJECTED);
    assertThat(seen.error).contains(why);
    assertThat(seen.promptReady).isFalse();
  }

  @Test
  void moreThanTheBoundOfWaitingRequestsAreRejected() throws InterruptedException {
    CountDownLatch gate = new CountDownLatch(1);
    EngineRequest held =
        withPrompt(
            () -> {
              awaitGate(gate);
              return letters(0, 5);
            });
    try (Engine engine = Engines.open(EngineOptions.builder().maxWaiting(3));
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ids.add(client.submit(held));
      }
      EngineClient.Seen refused = client.await(client.submit(letters(0, 5), 5));
      assertThat(refused.finish).isEqualTo(FinishReason.REJECTED);
      assertThat(refused.error).contains("3 requests");
      gate.countDown();
      ids.forEach(id -> assertThat(client.await(id).error).isNull());
      assertThat(client.await(client.submit(letters(0, 5), 5)).error).isNull();
    }
  }

  @Test
  void aResumedRequestIsTakenHoweverManyWait() {
    CountDownLatch gate = new CountDownLatch(1);
    EngineRequest held =
        withPrompt(
            () -> {
              awaitGate(gate);
              return letters(0, 5);
            });
    try (Engine engine = Engines.open(EngineOptions.builder().maxWaiting(1));
        EngineClient client = new EngineClient(engine)) {
      long first = client.submit(held);
      long resumed =
          client.submit(
              EngineRequest.builder("test", () -> letters(1, 5), 5)
                  .resumed(letters(2, 2))
                  .ignoreEndOfTurn(true)
                  .build());
      gate.countDown();
      assertThat(client.await(resumed).finish).isEqualTo(FinishReason.LENGTH);
      assertThat(client.await(first).error).isNull();
    } finally {
      gate.countDown();
    }
  }

  @Test
  void anErrorOfAPromptEndsItsRequest() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen seen =
          client.run(
              withPrompt(
                  () -> {
                    throw new NoClassDefFoundError("a/class");
                  }));
      assertThat(seen.finish).isEqualTo(FinishReason.ERROR);
      assertThat(seen.error).contains("a/class");
    }
  }

  private static void awaitGate(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aFullPoolPreemptsTheYoungestAndLosesNothing() {
    List<int[]> alone = new ArrayList<>();
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < 6; i++) {
        alone.add(client.await(client.submit(letters(i, 30), 60)).ids());
      }
    }
    EngineOptions tight =
        EngineOptions.builder().kvPages(14).contextLength(100).auditMillis(0).build();
    try (Engine engine = Engines.open(ENDLESS, tight);
        EngineClient client = new EngineClient(engine)) {
      List<EngineRequest> requests = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        requests.add(EngineClient.request(letters(i, 30), SamplingParams.GREEDY, 60));
      }
      List<Long> ids = client.submitTogether(requests);
      for (int i = 0; i < 6; i++) {
        assertThat(client.await(ids.get(i)).ids()).isEqualTo(alone.get(i));
      }
      assertThat(Engines.awaitIdle(engine).scheduler().preemptions()).isPositive();
    }
  }

  @Test
  void aLargeRequestIsNotStarvedBySmallOnes() {
    EngineOptions options = EngineOptions.builder().kvPages(20).auditMillis(0).build();
    List<EngineRequest> requests = new ArrayList<>();
    for (int i = 0; i < 44; i++) {
      requests.add(EngineClient.request(letters(i % 20, 20), SamplingParams.GREEDY, 40));
    }
    requests.add(4, EngineClient.request(letters(29, 300), SamplingParams.GREEDY, 10));
    try (Engine engine = Engines.open(ENDLESS, options);
        EngineClient client = new EngineClient(engine)) {
      List<Long> small = new ArrayList<>(client.submitTogether(requests));
      long large = small.remove(4);
      small.forEach(id -> assertThat(client.await(id).tokens).hasSize(40));
      int order = client.await(large).finishOrder;
      assertThat(small).anyMatch(id -> client.seen(id).finishOrder > order);
    }
  }

  @Test
  void aSlowConsumerPausesItsOwnRequestsOnly() {
    EngineOptions options =
        EngineOptions.builder().ringTokens(8).kvPages(20).auditMillis(0).build();
    try (Engine engine = Engines.open(ENDLESS, options);
        EngineClient slow = new EngineClient(engine, new ChannelId("slow", 0, 0));
        EngineClient quick = new EngineClient(engine, new ChannelId("quick", 0, 0))) {
      long waiting = slow.submit(letters(1, 20), 200);
      await().until(() -> engine.stats().steps().generatedTokens() >= 8);
      for (int i = 0; i < 4; i++) {
        assertThat(quick.await(quick.submit(letters(2 + i, 100), 150)).tokens).hasSize(150);
      }
      await().until(() -> engine.stats().steps().generatedTokens() == 8 + 4 * 150);
      slow.drain();
      assertThat(slow.seen(waiting).tokens).hasSize(8);
      assertThat(slow.await(waiting).tokens).hasSize(200);
    }
  }

  @Test
  void aPausedRequestIsPreemptedForOthers() {
    EngineOptions two = EngineOptions.builder().ringTokens(8).maxRunning(2).auditMillis(0).build();
    try (Engine engine = Engines.open(ENDLESS.withTime(100_000, 0), two);
        EngineClient slow = new EngineClient(engine, new ChannelId("slow", 0, 0));
        EngineClient quick = new EngineClient(engine, new ChannelId("quick", 0, 0))) {
      long paused = slow.submit(letters(1, 20), 40);
      long endless = quick.submit(letters(2, 20), 4000);
      await().until(() -> slow.notifications() > 0);
      quick.awaitTokens(endless, 30);
      List<Long> other =
          quick.submitTogether(
              List.of(EngineClient.request(letters(3, 20), SamplingParams.GREEDY, 20)));
      assertThat(quick.await(other.get(0)).tokens).hasSize(20);
      assertThat(quick.seen(endless).finish).isNull();
      quick.cancel(endless);
      assertThat(slow.await(paused).tokens).hasSize(40);
    }
  }

  @Test
  void aRequestIsCancelledWhereverItIs() {
    CountDownLatch gate = new CountDownLatch(1);
    EngineOptions one = EngineOptions.builder().maxRunning(1).auditMillis(0).build();
    try (Engine engine = Engines.open(ENDLESS, one);
        EngineClient client = new EngineClient(engine)) {
      long running = client.submit(letters(0, 40), 4000);
      client.awaitTokens(running, 5);
      long waiting;
      long atIntake;
      try (EngineHold hold = new EngineHold(engine)) {
        waiting = client.submit(letters(1, 40), 10);
        client.awaitAccepted(List.of(waiting));
        atIntake =
            client.submit(
                withPrompt(
                    () -> {
                      awaitGate(gate);
                      return letters(2, 5);
                    }));
        client.cancel(atIntake);
        client.cancel(waiting);
      }
      assertThat(client.await(atIntake).finish).isEqualTo(FinishReason.CANCELLED);
      assertThat(client.await(waiting).finish).isEqualTo(FinishReason.CANCELLED);
      assertThat(client.seen(waiting).tokens).isEmpty();
      client.cancel(running);
      client.cancel(running);
      assertThat(client.await(running).finish).isEqualTo(FinishReason.CANCELLED);
      gate.countDown();
      assertThat(client.await(client.submit(letters(3, 5), 5)).tokens).hasSize(5);
      Engines.awaitIdle(engine);
    } finally {
      gate.countDown();
    }
  }
}
