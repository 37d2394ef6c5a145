package io.radixflow.operators.flink.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.protocol.record.EventKind;
import java.util.List;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the erasure of a tenant with more sessions than one mail erases. */
@Timeout(180)
class TenantErasureTest {
  private static final int SESSIONS = 2_500;
  private static final int MOST_A_MAIL = 1_000;

  private static ServingHarness subtask(int parallelism, int index, boolean rocksDb)
      throws Exception {
    return ServingHarness.of(
            new ScriptedEngine(4096, 40), ServingOptions.DEFAULT, parallelism, index)
        .setBackend(rocksDb);
  }

  /** Opens a tenant's sessions, one of another tenant, and a turn of each in flight. */
  private static ServingHarness withSessions(boolean rocksDb) throws Exception {
    ServingHarness h = subtask(1, 0, rocksDb);
    h.open();
    for (int i = 0; i < SESSIONS; i++) {
      h.send(Events.of(EventKind.OPEN, "acme-" + i, "open").of("acme"));
    }
    h.send(Events.message("acme-7", "doomed").of("acme"));
    h.send(Events.message("beta", "spared").of("beta")).generate(2);
    return h;
  }

  private static int erased(ServingHarness h) throws Exception {
    var task = h.getEnvironment().getTaskInfo();
    int erased = 0;
    for (int i = 0; i < SESSIONS; i++) {
      String session = "acme-" + i;
      boolean own =
          ServingHarness.ownerOf(session, task.getNumberOfParallelSubtasks())
              == task.getIndexOfThisSubtask();
      SessionSlot slot = own ? slot(h, session) : null;
      erased += slot != null && slot.life() == SessionSlot.Life.ERASED ? 1 : 0;
    }
    return erased;
  }

  private static SessionSlot slot(ServingHarness h, String session) throws Exception {
    return h.slotState(session).value();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void turnsOfOtherTenantsContinueWhileATenantIsErased(boolean rocksDb) throws Exception {
    try (ServingHarness h = withSessions(rocksDb)) {
      h.control("erase_tenant", "acme", null);
      String text = h.streamed("spared");
      int before = 0;
      while (h.streamed("spared").equals(text)) {
        h.engine().step();
        assertThat(h.runAMail()).isTrue();
        int now = erased(h);
        assertThat(now - before).isLessThanOrEqualTo(MOST_A_MAIL);
        before = now;
      }
      assertThat(before).isPositive().isLessThan(SESSIONS);
      h.runMails();
      assertThat(erased(h)).isEqualTo(SESSIONS);
      assertThat(h.reply("doomed").finishReason()).isEqualTo("cancelled");
      assertThat(h.settle().reply("spared").finishReason()).isEqualTo("stop");
    }
  }

  @ParameterizedTest
  @CsvSource({"1,false", "1,true", "2,false", "2,true"})
  void anErasureContinuesFromACheckpointAtAnyParallelism(int parallelism, boolean rocksDb)
      throws Exception {
    OperatorSubtaskState middle;
    try (ServingHarness h = withSessions(rocksDb)) {
      h.control("erase_tenant", "acme", null);
      h.send(Events.of(EventKind.OPEN, "later", "open").of("acme"));
      h.runAMail();
      assertThat(erased(h)).isPositive().isLessThan(SESSIONS);
      middle = h.snapshot();
    }
    int erased = 0;
    for (int i = 0; i < parallelism; i++) {
      try (ServingHarness h = subtask(parallelism, i, rocksDb)) {
        h.restore(middle, 1).runMails();
        erased += erased(h);
        if (ServingHarness.ownerOf("later", parallelism) == i) {
          assertThat(slot(h, "later").tenant()).isEqualTo("acme");
          assertThat(slot(h, "later").life()).isEqualTo(SessionSlot.Life.OPEN);
        }
      }
    }
    assertThat(erased).isEqualTo(SESSIONS);
  }

  @Test
  void afterARescaleAllSubtasksFinishAnErasureButSpareSessionsOpenedSince() throws Exception {
    List<String> names = List.of("a", "b", "c", "d", "e", "f", "g", "h");
    OperatorSubtaskState[] states = new OperatorSubtaskState[2];
    for (int i = 0; i < 2; i++) {
      int index = i;
      try (ServingHarness h = subtask(2, i, false)) {
        h.open();
        List<String> own =
            names.stream().filter(id -> ServingHarness.ownerOf(id, 2) == index).toList();
        assertThat(own).hasSizeGreaterThan(1);
        h.send(Events.of(EventKind.OPEN, own.get(0), "open").of("acme"));
        h.control("erase_tenant", "acme", null);
        if (i == 0) {
          h.runMails();
        }
        h.send(Events.of(EventKind.OPEN, own.get(1), "open").of("acme"));
        states[i] = h.snapshot();
      }
    }
    try (ServingHarness h = subtask(1, 0, false)) {
      h.restore(ServingHarness.repackageState(states), 2).runMails();
      int open = 0;
      int erased = 0;
      for (String name : names) {
        SessionSlot slot = slot(h, name);
        open += slot != null && slot.life() == SessionSlot.Life.OPEN ? 1 : 0;
        erased += slot != null && slot.life() == SessionSlot.Life.ERASED ? 1 : 0;
      }
      assertThat(List.of(open, erased)).containsExactly(2, 2);
    }
  }

  @Test
  void aSessionThatThePassHasNotReachedIsErasedByItsNextEvent() throws Exception {
    try (ServingHarness h = withSessions(false)) {
      h.control("erase_tenant", "acme", null);
      for (int i = 0; i < SESSIONS; i++) {
        h.send(Events.message("acme-" + i, "after-" + i).of("acme"));
      }
      assertThat(erased(h)).isEqualTo(SESSIONS);
      assertThat(h.reply("after-7").error().message()).contains("was erased");
    }
  }

  @Test
  void sessionsOpenedAfterAnErasureLiveUntilTheNextOne() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.OPEN, "a", "o1").of("acme"));
      h.control("erase_tenant", "acme", null);
      h.send(Events.of(EventKind.OPEN, "b", "o2").of("acme"));
      h.runMails();
      assertThat(slot(h, "a").life()).isEqualTo(SessionSlot.Life.ERASED);
      assertThat(slot(h, "b").life()).isEqualTo(SessionSlot.Life.OPEN);
      h.control("erase_tenant", "acme", null).runMails();
      assertThat(slot(h, "b").life()).isEqualTo(SessionSlot.Life.ERASED);
    }
  }

  @Test
  void noSessionEndsAfterTheBarrierOfAStopWithSavepoint() throws Exception {
    try (ServingHarness h = withSessions(false)) {
      h.control("erase_tenant", "acme", null);
      OperatorSubtaskState last =
          h.snapshotWithLocalState(7, 7, SavepointType.suspend(SavepointFormatType.CANONICAL))
              .getJobManagerOwnedState();
      int replies = h.replies().size();
      h.runMails();
      assertThat(h.replies()).hasSize(replies);
      assertThat(erased(h)).isZero();
      try (ServingHarness next = subtask(1, 0, false)) {
        next.restore(last, 1).runMails();
        assertThat(erased(next)).isEqualTo(SESSIONS);
        assertThat(next.reply("doomed").finishReason()).isEqualTo("cancelled");
      }
      h.abortCheckpoint(7);
      h.runMails();
      assertThat(erased(h)).isEqualTo(SESSIONS);
    }
  }
}
