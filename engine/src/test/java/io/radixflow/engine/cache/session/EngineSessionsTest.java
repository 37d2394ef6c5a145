package io.radixflow.engine.cache.session;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineHold;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.SessionRef;
import io.radixflow.kernels.sampling.SamplingParams;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what the engine keeps of a session between turns. Pages have 16 tokens. */
@Timeout(180)
class EngineSessionsTest {

  private static EngineRequest turn(String session, String branch, int[] prompt, int maxTokens) {
    return EngineRequest.builder("test", () -> prompt, maxTokens)
        .session(new SessionRef("tenant", session, branch))
        .build();
  }

  private static EngineRequest turn(String session, int[] prompt, int maxTokens) {
    return turn(session, "main", prompt, maxTokens);
  }

  /** Runs a turn until a step in flight holds its pages no more. */
  private static EngineClient.Seen run(Engine engine, EngineClient client, EngineRequest turn) {
    EngineClient.Seen seen = client.run(turn);
    Engines.awaitIdle(engine);
    return seen;
  }

  @Test
  void theNextTurnFindsAllThatTheLastOneComputed() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      int[] conversation = letters(0, 50);
      int computed = 0;
      for (int i = 1; i <= 6; i++) {
        EngineClient.Seen seen = run(engine, client, turn("s", conversation, 60));
        assertThat(seen.usage.cachedTokens()).isEqualTo(computed);
        conversation = concat(conversation, seen.ids());
        computed = conversation.length - 1;
        conversation = concat(conversation, letters(i, 23));
      }
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.sessions().pages()).isLessThanOrEqualTo(1);
      assertThat(stats.sessions().known()).isEqualTo(1);
    }
  }

  /** Case S4: of 26 tokens and a reply of 12, the last is sampled but never computed. */
  @Test
  void aStepThatRanPastTheEndOfAReplyLeavesNothing() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen seen = run(engine, client, turn("s", letters(0, 26), 12));
      EngineStats stats = Engines.stats(engine);
      assertThat(stats.pool().evictablePages()).isEqualTo(2);
      assertThat(stats.sessions().pages()).isEqualTo(1);
      int[] next = concat(letters(0, 26), seen.ids(), letters(1, 9));
      assertThat(run(engine, client, turn("s", next, 1)).usage.cachedTokens()).isEqualTo(37);
    }
  }

  @Test
  void aForkFindsWhatItsBranchHas() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen first = run(engine, client, turn("s", letters(0, 50), 20));
      int[] conversation = concat(letters(0, 50), first.ids());
      int[] forked = concat(conversation, letters(7, 9));
      assertThat(run(engine, client, turn("s", "other", forked, 20)).usage.cachedTokens())
          .isEqualTo(conversation.length - 1);
      assertThat(Engines.awaitIdle(engine).sessions().known()).isEqualTo(1);
    }
  }

  @Test
  void closingASessionFreesWhatOnlyItUses() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      int[] system = letters(0, 64);
      run(engine, client, turn("a", concat(system, letters(1, 40)), 20));
      run(engine, client, turn("b", concat(system, letters(2, 40)), 20));
      engine.closeSession("a");
      engine.closeSession("a");
      engine.closeSession("unknown");
      assertThat(run(engine, client, turn("c", system, 1)).usage.cachedTokens()).isEqualTo(63);
      engine.closeSession("b");
      engine.closeSession("c");
      assertThat(run(engine, client, turn("d", letters(9, 5), 1)).usage.cachedTokens()).isZero();
      engine.closeSession("d");
      Engines.awaitEmpty(engine);
    }
  }

  @Test
  void aTurnInFlightWhenItsSessionClosesLeavesNothing() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      long running = client.submit(turn("s", letters(0, 50), 2_000));
      client.awaitTokens(running, 1);
      engine.closeSession("s");
      client.cancel(running);
      client.await(running);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.pool().freePages()).isEqualTo(stats.pool().totalPages());
    }
  }

  @Test
  void aSessionOpenedAgainUnderTheSameIdKeepsItsOwnPagesOnly() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      long old = client.submit(turn("s", letters(0, 50), 2_000));
      client.awaitTokens(old, 1);
      engine.closeSession("s");
      run(engine, client, turn("s", letters(1, 64), 1));
      client.cancel(old);
      client.await(old);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.pool().evictablePages()).isEqualTo(4);
      assertThat(run(engine, client, turn("s", letters(1, 70), 1)).usage.cachedTokens())
          .isEqualTo(64);
    }
  }

  /** Case S1: nothing of the session's is touched before its turn is admitted. */
  @Test
  void aRequestThatIsCancelledBeforeItRunsLeavesItsSessionAsItWas() {
    EngineOptions.Builder one = EngineOptions.builder().maxRunning(1);
    try (Engine engine = Engines.open(one);
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen first = run(engine, client, turn("s", letters(0, 50), 20));
      EngineStats before = Engines.awaitIdle(engine);
      long blocker = client.submit(turn("t", letters(1, 10), 3_000));
      client.awaitTokens(blocker, 1);
      long waiting;
      try (EngineHold hold = new EngineHold(engine)) {
        waiting = client.submit(turn("s", letters(0, 80), 20));
        client.awaitAccepted(List.of(waiting));
        client.cancel(waiting);
      }
      assertThat(client.await(waiting).usage.cachedTokens()).isZero();
      client.cancel(blocker);
      client.await(blocker);
      engine.closeSession("t");
      client.run(EngineClient.request(letters(8, 3), SamplingParams.GREEDY, 1));
      assertThat(Engines.awaitIdle(engine).pool().freePages()).isEqualTo(before.pool().freePages());
      int[] next = concat(letters(0, 50), first.ids(), letters(2, 5));
      assertThat(run(engine, client, turn("s", next, 5)).usage.cachedTokens())
          .isEqualTo(50 + first.tokens.size() - 1);
    }
  }

  @Test
  void sessionsThatKeepTooManySlotsForgetTheOldest() {
    EngineOptions.Builder few =
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withSessions(new SessionBounds(3, 3, 1, 1)))
            .kvPages(300);
    try (Engine engine = Engines.open(few);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < 8; i++) {
        run(engine, client, turn("s" + i, letters(i, 40), 1));
      }
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.sessions().known()).isEqualTo(3);
      assertThat(stats.pool().evictablePages()).isEqualTo(3 * 2);
      assertThat(stats.sessions().pages()).isEqualTo(3);
    }
  }
}
