package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits where two subtasks of a job are on one TaskManager. */
@Timeout(180)
class TaskManagerLimitsTest {
  private static final ServingOptions TWO_SESSIONS =
      Options.with(
          o -> {
            o.maxSessionsPerTenant = 2;
            o.maxSessionsPerTaskManager = 3;
          });
  private static final ServingOptions TWO_TURNS =
      Options.with(
          o -> {
            o.maxQueuedPerTenant = 2;
            o.maxQueuedPerTaskManager = 3;
          });

  private final ScriptedEngine engine = new ScriptedEngine(4096, 6);

  /** A session of a subtask of two. */
  private static String session(int subtask, int number) {
    return IntStream.range(0, 1_000)
        .mapToObj(i -> "s" + i)
        .filter(id -> ServingHarness.ownerOf(id, 2) == subtask)
        .skip(number)
        .findFirst()
        .orElseThrow();
  }

  private static Events message(int subtask, int session, String turn) {
    return Events.message(session(subtask, session), turn);
  }

  private ServingHarness subtask(ServingOptions options, int subtask) throws Exception {
    return ServingHarness.of(engine, options, 2, subtask);
  }

  @Test
  void sessionsAreCountedOverItsSubtasks() throws Exception {
    try (ServingHarness a = subtask(TWO_SESSIONS, 0);
        ServingHarness b = subtask(TWO_SESSIONS, 1).beside(a)) {
      a.open();
      b.open();
      a.send(message(0, 0, "t1").of("acme"));
      b.send(message(1, 0, "t2").of("acme"), message(1, 1, "t3").of("acme"));
      assertThat(b.reply("t3").error().message()).contains("tenant", "limit of 2 open sessions");
      b.send(message(1, 2, "t4").of("beta"));
      a.send(message(0, 1, "t5").of("gamma"));
      assertThat(a.reply("t5").error().message())
          .contains("TaskManager", "limit of 3 open sessions");
      a.send(Events.of(EventKind.CLOSE, session(0, 0), "c").of("acme"));
      b.send(message(1, 3, "t6").of("acme")).settle();
      assertThat(b.endings()).containsExactly("t3:rejected", "t2:stop", "t4:stop", "t6:stop");
    }
  }

  @Test
  void turnsAreCountedOverItsSubtasks() throws Exception {
    try (ServingHarness a = subtask(TWO_TURNS, 0);
        ServingHarness b = subtask(TWO_TURNS, 1).beside(a)) {
      a.open();
      b.open();
      a.send(message(0, 0, "t1").of("acme"), message(0, 0, "t2").of("acme"));
      b.send(message(1, 0, "t3").of("acme"), message(1, 1, "t4").of("beta"));
      assertThat(b.reply("t3").error().message()).contains("tenant", "limit of 2 turns");
      a.send(message(0, 1, "t5").of("beta"));
      assertThat(a.reply("t5").error().message()).contains("TaskManager", "limit of 3 turns");
      a.settle();
      b.send(message(1, 2, "t6").of("acme"), message(1, 3, "t7").of("acme"));
      a.send(message(0, 2, "t8").of("acme"));
      assertThat(a.endings()).containsExactly("t5:rejected", "t1:stop", "t2:stop", "t8:rejected");
      assertThat(b.settle().endings()).contains("t6:stop", "t7:stop");
    }
  }

  @Test
  void aSubtaskThatEndsSubtractsItsCountsAndItsSuccessorCountsAgain() throws Exception {
    try (ServingHarness a = subtask(TWO_SESSIONS, 0)) {
      OperatorSubtaskState left;
      try (ServingHarness b = subtask(TWO_SESSIONS, 1).beside(a)) {
        a.open();
        b.open();
        b.send(message(1, 0, "t1").of("acme"), message(1, 1, "t2").of("acme"));
        left = b.snapshot();
      }
      a.send(message(0, 0, "t3").of("acme"), message(0, 1, "t4").of("acme"));
      try (ServingHarness b = subtask(TWO_SESSIONS, 1).beside(a)) {
        b.initializeState(left);
        b.open();
        a.send(Events.of(EventKind.CLOSE, session(0, 0), "c1").of("acme"));
        a.send(message(0, 2, "t5").of("acme")).settle();
        assertThat(a.endings()).contains("t3:cancelled", "t4:stop", "t5:rejected");
        b.send(Events.of(EventKind.CLOSE, session(1, 0), "c2").of("acme"));
        b.send(Events.of(EventKind.CLOSE, session(1, 1), "c3").of("acme"));
        a.send(message(0, 3, "t6").of("acme")).settle();
        assertThat(a.reply("t6").finishReason()).isEqualTo("stop");
      }
    }
  }

  @Test
  void countsFollowSessionsThatMoveWhenTheJobIsRescaled() throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[2];
    try (ServingHarness a = subtask(TWO_SESSIONS, 0);
        ServingHarness b = subtask(TWO_SESSIONS, 1).beside(a)) {
      a.open();
      b.open();
      a.send(message(0, 0, "t1").of("acme")).settle();
      b.send(message(1, 0, "t2").of("acme"), message(1, 1, "t3").of("beta")).settle();
      states[0] = a.snapshot();
      states[1] = b.snapshot();
    }
    try (ServingHarness one = ServingHarness.of(engine, TWO_SESSIONS)) {
      one.restore(AbstractStreamOperatorTestHarness.repackageState(states), 2);
      one.send(message(0, 1, "t4").of("acme"), message(0, 2, "t5").of("beta"));
      assertThat(one.reply("t4").error().message()).contains("tenant", "limit of 2 open sessions");
      assertThat(one.reply("t5").error().message())
          .contains("TaskManager", "limit of 3 open sessions");
    }
  }
}
