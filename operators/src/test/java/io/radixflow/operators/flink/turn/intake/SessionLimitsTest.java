package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Overflow;
import java.time.Duration;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits on the number of sessions and on their histories. */
@Timeout(180)
class SessionLimitsTest {
  private static final ServingOptions TWO_A_TENANT =
      Options.with(
          o -> {
            o.maxSessionsPerTenant = 2;
            o.maxSessionsPerTaskManager = 3;
            o.retention = Duration.ofSeconds(10);
          });

  private static ServingHarness full() throws Exception {
    ServingHarness h = ServingHarness.opened(TWO_A_TENANT);
    h.send(Events.message("a", "t1").of("acme"));
    h.send(Events.of(EventKind.OPEN, "b", "o").of("acme")).settle();
    return h;
  }

  @Test
  void aTenantsAndATaskManagersSessionsAreBounded() throws Exception {
    try (ServingHarness h = full()) {
      h.send(Events.message("c", "t2").of("acme"), Events.of(EventKind.OPEN, "d", "t3").of("acme"));
      h.send(Events.message("e", "t4").of("beta"), Events.message("f", "t5").of("beta"));
      h.send(Events.message("a", "t6").of("acme")).settle();
      assertThat(h.reply("t2").error().message()).contains("tenant", "limit of 2 open sessions");
      assertThat(h.reply("t3").finishReason()).isEqualTo("rejected");
      assertThat(h.reply("t4").finishReason()).isEqualTo("stop");
      assertThat(h.reply("t5").error().message())
          .contains("TaskManager", "limit of 3 open sessions");
      assertThat(h.reply("t6").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void aSessionThatIsClosedErasedOrForgottenMakesRoom() throws Exception {
    try (ServingHarness h = full()) {
      h.send(
          Events.of(EventKind.CLOSE, "a", "c1").of("acme"),
          Events.of(EventKind.CLOSE, "a", "c2").of("acme"));
      h.send(Events.message("c", "t2").of("acme"), Events.message("d", "t3").of("acme"));
      h.send(
          Events.of(EventKind.ERASE, "c", "e1").of("acme"),
          Events.of(EventKind.ERASE, "c", "e2").of("acme"));
      h.send(Events.message("f", "t4").of("acme"), Events.message("g", "t5").of("acme")).settle();
      assertThat(h.endings()).contains("t3:rejected", "t4:stop", "t5:rejected");
      h.setProcessingTime(20_000);
      h.send(Events.message("h", "t6").of("acme"), Events.message("i", "t7").of("acme"));
      h.send(Events.message("j", "t8").of("acme")).settle();
      assertThat(h.endings()).contains("t6:stop", "t7:stop", "t8:rejected");
    }
  }

  @Test
  void sessionsAreCountedAgainAfterARestore() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = full()) {
      h.send(Events.of(EventKind.CLOSE, "a", "c1").of("acme"));
      state = h.snapshot();
    }
    try (ServingHarness next = ServingHarness.of(new ScriptedEngine(4096, 6), TWO_A_TENANT)) {
      next.restore(state, 1);
      next.send(Events.message("c", "t2").of("acme"), Events.message("d", "t3").of("acme"));
      assertThat(next.settle().endings()).containsExactly("t3:rejected", "t2:stop");
    }
  }

  @Test
  void aControlEventChangesTheLimitOfATenant() throws Exception {
    try (ServingHarness h = full()) {
      h.control("limits", "acme", "max_sessions_per_tenant=3");
      h.send(Events.message("c", "t2").of("acme"));
      h.control("limits", null, "max_sessions_per_taskmanager=3,max_sessions_per_tenant=9");
      h.send(Events.message("d", "t3").of("beta")).settle();
      assertThat(h.endings()).contains("t2:stop", "t3:rejected");
    }
  }

  @Test
  void whileDrainingNoSessionIsOpened() throws Exception {
    try (ServingHarness h = full()) {
      h.control("drain", null, null).send(Events.of(EventKind.OPEN, "c", "o2"));
      assertThat(h.reply("o2").error().message()).contains("drains");
    }
  }

  @Test
  void aConversationBeyondItsLimitOfTurnsDropsTheOldestDownToHalf() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxTurns = 4))) {
      for (int turn = 1; turn <= 12; turn++) {
        h.send(Events.message("s", "t" + turn)).settle();
        assertThat(h.turnsKept("s")).isLessThanOrEqualTo(5);
      }
      assertThat(IntStream.rangeClosed(1, 12).map(turn -> h.reply("t" + turn).droppedTurns()))
          .containsExactly(0, 0, 0, 0, 0, 3, 3, 3, 6, 6, 6, 9);
      String prompt = TurnOrderTest.text(h.engine().submitted().get(11).prompt());
      assertThat(prompt).contains("text of t10", "text of t11").doesNotContain("text of t9");
    }
  }

  @Test
  void aTurnBeyondTheLimitIsRejectedIfConfigured() throws Exception {
    ServingOptions options =
        Options.with(
            o -> {
              o.maxTurns = 2;
              o.overflow = Overflow.REJECT;
            });
    try (ServingHarness h = ServingHarness.opened(options)) {
      for (int turn = 1; turn <= 4; turn++) {
        h.send(Events.message("s", "t" + turn)).settle();
      }
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop", "t3:stop", "t4:rejected");
      assertThat(h.reply("t4").error().message()).contains("limit of 2 turns");
    }
  }
}
