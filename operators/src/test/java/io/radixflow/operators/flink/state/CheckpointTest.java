package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CheckpointTest {
  private final ScriptedEngine engine = new ScriptedEngine(4096, 6);

  private ServingHarness harness() throws Exception {
    return ServingHarness.of(engine, ServingOptions.DEFAULT);
  }

  @Test
  void aRunningTurnContinuesFromTheTokensOfTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    String shown;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1")).generate(3);
      shown = h.streamed("t1");
      state = h.snapshot();
    }
    try (ServingHarness next = harness().restore(state, 1);
        ServingHarness undisturbed = ServingHarness.opened()) {
      next.settle();
      undisturbed.send(Events.message("s", "t1")).settle();
      ScriptedEngine.Submitted resumed = engine.submitted().get(1);
      assertThat(TurnOrderTest.text(resumed.resumed())).isEqualTo(shown).hasSize(3);
      assertThat(resumed.prompt()).isEqualTo(engine.submitted().get(0).prompt());
      assertThat(next.reply("t1"))
          .usingRecursiveComparison()
          .ignoringFields("attempt", "created")
          .isEqualTo(undisturbed.reply("t1"));
      assertThat(next.deltas().get(0).offset()).isEqualTo(3);
      assertThat(next.deltas().get(0).tokenOffset()).isEqualTo(3);
      assertThat(shown + next.streamed("t1")).isEqualTo(next.reply("t1").text());
    }
  }

  @Test
  void progressOfSeveralCheckpointsAddsUp() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1"));
      h.snapshot();
      h.generate(1).snapshot();
      h.generate(0).snapshot();
      state = h.generate(1).snapshot();
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      next.settle();
      assertThat(engine.submitted().get(1).resumed()).hasSize(4);
      assertThat(next.reply("t1").text()).hasSize(6);
    }
  }

  @Test
  void aRestoredWaitingTurnThatIsCancelledEndsWithTheTextThatWasShown() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("a", "t1"), Events.message("b", "t2"));
      state = h.generate(3).snapshot();
    }
    ServingOptions oneAtOnce = Options.with(o -> o.maxRunning = 1);
    try (ServingHarness next = ServingHarness.of(engine, oneAtOnce).restore(state, 1);
        ServingHarness running = harness().restore(state, 1)) {
      next.send(Events.of(EventKind.CANCEL, "b", "t2"));
      running.send(Events.of(EventKind.CANCEL, "b", "t2"));
      assertThat(next.reply("t2").text()).hasSize(3);
      assertThat(next.reply("t2"))
          .usingRecursiveComparison()
          .ignoringFields("attempt", "created")
          .isEqualTo(running.reply("t2"));
      assertThat(next.deltas())
          .usingRecursiveComparison()
          .ignoringFields("attempt")
          .isEqualTo(running.deltas());
      next.send(Events.message("b", "t3")).settle();
      assertThat(TurnOrderTest.text(engine.submitted().get(engine.submitted().size() - 1).prompt()))
          .contains("text of t2", "assistant\n" + next.reply("t2").text() + "|\n|user");
    }
  }

  @Test
  void restoredTurnsKeepTheirOrderThoughTheClockWentBack() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.setProcessingTime(5_000);
      h.send(Events.message("s", "t1"));
      h.setProcessingTime(2_000);
      h.send(Events.message("s", "t2"));
      state = h.snapshot();
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      next.settle();
      assertThat(next.replies()).extracting(Reply::turn).containsExactly("t1", "t2");
    }
  }

  @Test
  void anAnsweredTurnIsNotAnsweredAgain() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1")).generate(2).snapshot();
      state = h.settle().snapshot();
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      next.send(Events.message("s", "t1")).settle();
      assertThat(next.replies()).isEmpty();
      next.send(Events.message("s", "t2")).settle();
      assertThat(TurnOrderTest.text(engine.submitted().get(1).prompt())).contains("text of t1");
    }
  }

  @Test
  void waitingForksAndRegenerationsAreTakenUpInOrder() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(
          Events.message("s", "t1"),
          Events.of(EventKind.REGENERATE, "s", "r1"),
          Events.fork("s", "f", "b", null),
          Events.message("s", "t2").on("b"));
      state = h.generate(2).snapshot();
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      next.settle();
      assertThat(next.endings()).containsExactly("t1:stop", "r1:stop", "f:stop", "t2:stop");
    }
  }

  @Test
  void theAttemptGrowsEvenIfTheClockIsSetBack() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.setProcessingTime(900_000);
      h.open();
      state = h.send(Events.message("s", "t1")).generate(2).snapshot();
      assertThat(h.deltas()).extracting(ReplyDelta::attempt).containsOnly(900_000L);
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      next.settle();
      assertThat(next.reply("t1").attempt()).isEqualTo(900_001);
    }
  }

  @Test
  void aRestartedSubtaskFencesItsPredecessor() throws Exception {
    try (ServingHarness zombie = harness()) {
      zombie.open();
      zombie.send(Events.message("s", "t1")).generate(2);
      OperatorSubtaskState state = zombie.snapshot();
      try (ServingHarness next = harness()) {
        next.setProcessingTime(5_000);
        next.restore(state, 1);
        int shown = zombie.deltas().size();
        next.settle();
        zombie.runMails();
        assertThat(zombie.deltas()).hasSize(shown);
        assertThat(zombie.replies()).isEmpty();
        assertThat(next.endings()).containsExactly("t1:stop");
      }
    }
  }

  @Test
  void nothingIsEmittedAfterASynchronousSavepoint() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1")).generate(2);
      int shown = h.deltas().size();
      state =
          h.snapshotWithLocalState(7, 7, SavepointType.terminate(SavepointFormatType.CANONICAL))
              .getJobManagerOwnedState();
      h.settle();
      assertThat(h.deltas()).hasSize(shown);
      assertThat(h.replies()).isEmpty();
    }
    try (ServingHarness next = harness().restore(state, 1)) {
      assertThat(next.settle().reply("t1").text()).hasSize(6);
    }
  }

  @Test
  void emissionContinuesIfTheSynchronousSavepointIsAborted() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1")).generate(2);
      h.snapshotWithLocalState(7, 7, SavepointType.suspend(SavepointFormatType.CANONICAL));
      h.settle();
      h.abortCheckpoint(7);
      assertThat(h.settle().endings()).containsExactly("t1:stop");
    }
  }

  @Test
  void endOfInputWaitsForAllReplies() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.message("s", "t1"), Events.message("s", "t2"));
      h.endInput(2);
      assertThat(h.replies()).isEmpty();
      engine.stepOnItsOwn();
      h.endInput(1);
      assertThat(h.replies()).extracting(Reply::turn).containsExactly("t1", "t2");
    }
  }

  @Test
  void theEngineIsReleasedWithItsLastLease() throws Exception {
    ServingHarness h = harness();
    h.open();
    assertThat(engine.isClosed()).isFalse();
    h.close();
    assertThat(engine.running()).isZero();
  }
}
