package io.radixflow.operators.flink.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies whose commit is not known, with an output that may have lost them. */
@Timeout(180)
class UnconfirmedRepliesTest {
  private static final long EMITTED = 5_000;
  private static final long IN_TIME = EMITTED + SuspectOutput.COMMIT_MILLIS - 1;
  private static final long TOO_LATE = EMITTED + SuspectOutput.COMMIT_MILLIS;

  private final SuspectOutput output = new SuspectOutput();

  private ServingHarness harness(boolean rocksDb) throws Exception {
    return ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT, output, 1, 0)
        .setBackend(rocksDb);
  }

  /** Emits a reply to turn t of session s. */
  private ServingHarness replied(boolean rocksDb) throws Exception {
    ServingHarness h = harness(rocksDb);
    h.setProcessingTime(EMITTED);
    h.open();
    return h.send(Events.message("s", "t")).settle();
  }

  private ServingHarness restored(OperatorSubtaskState state, long time) throws Exception {
    ServingHarness h = harness(false);
    h.setProcessingTime(time);
    return h.restore(state, 1);
  }

  private static List<String> unconfirmed(ServingHarness h, String session) throws Exception {
    List<String> turns = new ArrayList<>();
    state(h, session).keys().forEach(turns::add);
    return turns;
  }

  private static MapState<String, EmittedReply> state(ServingHarness h, String session)
      throws Exception {
    return h.state(session, UnconfirmedReplies.descriptor());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aReplyIsForgottenACheckpointAfterTheOneThatCommittedIt(boolean rocksDb) throws Exception {
    try (ServingHarness h = replied(rocksDb)) {
      h.snapshot();
      h.setProcessingTime(IN_TIME);
      assertThat(unconfirmed(h, "s")).containsExactly("t");
      h.notifyOfCompletedCheckpoint(1);
      assertThat(unconfirmed(h, "s")).containsExactly("t");
      h.snapshot();
      h.notifyOfCompletedCheckpoint(2);
      assertThat(unconfirmed(h, "s")).isEmpty();
      assertThat(output.asked()).isEmpty();
    }
  }

  @Test
  void aReplyOfACheckpointThatFailsIsCommittedWithALaterOne() throws Exception {
    try (ServingHarness h = replied(false)) {
      h.snapshot();
      h.abortCheckpoint(1);
      h.send(Events.message("s", "u")).settle();
      h.snapshot();
      h.notifyOfCompletedCheckpoint(2);
      assertThat(unconfirmed(h, "s")).containsExactlyInAnyOrder("t", "u");
      h.snapshot();
      h.send(Events.message("s", "v")).settle();
      h.notifyOfCompletedCheckpoint(3);
      assertThat(unconfirmed(h, "s")).containsExactly("v");
    }
  }

  @Test
  void aYoungReplyIsNotLookedForAfterARestore() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = replied(false)) {
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, IN_TIME)) {
      next.snapshot();
      next.notifyOfCompletedCheckpoint(1);
      assertThat(unconfirmed(next, "s")).isEmpty();
      assertThat(output.asked()).isEmpty();
      assertThat(next.replies()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anOldReplyThatWasLostIsEmittedAgainAfterARestoreJustAsItWas(boolean rocksDb)
      throws Exception {
    OperatorSubtaskState state;
    Reply reply;
    try (ServingHarness h = replied(rocksDb)) {
      reply = h.reply("t");
      state = h.snapshot();
    }
    try (ServingHarness next = harness(rocksDb)) {
      next.setProcessingTime(TOO_LATE);
      next.restore(state, 1);
      assertThat(output.last().wanted).containsExactly(new LostReplies.Id("s", "t"));
      assertThat(output.last().since).isEqualTo(EMITTED);
      next.send(Events.message("s", "u")).settle();
      assertThat(next.endings()).containsExactly("u:stop");
      output.last().allLost();
      next.runMails();
      assertThat(next.reply("t")).usingRecursiveComparison().isEqualTo(reply);
      assertThat(output.last().closed).isTrue();
      assertThat(next.deltas()).extracting("turn").doesNotContain("t");
    }
  }

  @Test
  void anOldReplyThatIsCommittedIsForgotten() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = replied(false)) {
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      output.last().noneLost();
      next.runMails();
      assertThat(next.replies()).isEmpty();
      assertThat(unconfirmed(next, "s")).isEmpty();
    }
  }

  @Test
  void aFailureBeforeTheNextCheckpointHasTheReplyLookedForAgain() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = replied(false)) {
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      state = next.snapshot();
    }
    assertThat(output.last().closed).as("the failed one's").isTrue();
    try (ServingHarness next = restored(state, TOO_LATE)) {
      output.last().allLost();
      next.runMails();
      assertThat(next.endings()).containsExactly("t:stop");
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      assertThat(output.asked()).hasSize(3);
      output.last().allLost();
      next.runMails();
      assertThat(next.endings()).containsExactly("t:stop");
      state = next.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      assertThat(output.asked()).as("emitted again just now").hasSize(3);
      assertThat(unconfirmed(next, "s")).containsExactly("t");
    }
    try (ServingHarness next = restored(state, TOO_LATE + SuspectOutput.COMMIT_MILLIS)) {
      assertThat(output.last().since).isEqualTo(TOO_LATE);
      output.last().allLost();
      next.runMails();
      assertThat(next.endings()).containsExactly("t:stop");
    }
  }

  @Test
  void aCommitThatComesTooLateIsNoticedWithoutARestore() throws Exception {
    try (ServingHarness h = replied(false)) {
      h.snapshot();
      h.notifyOfCompletedCheckpoint(1);
      h.setProcessingTime(TOO_LATE);
      h.send(Events.message("s", "u")).settle();
      h.snapshot();
      h.notifyOfCompletedCheckpoint(2);
      assertThat(output.last().wanted).containsExactly(new LostReplies.Id("s", "t"));
      h.setProcessingTime(TOO_LATE + SuspectOutput.COMMIT_MILLIS);
      h.snapshot();
      h.notifyOfCompletedCheckpoint(3);
      assertThat(output.asked()).as("one search at a time").hasSize(1);
      output.last().allLost();
      h.runMails();
      assertThat(h.endings()).containsExactly("t:stop", "u:stop", "t:stop");
      assertThat(output.last().wanted).containsExactly(new LostReplies.Id("s", "u"));
      output.last().noneLost();
      h.runMails();
      assertThat(unconfirmed(h, "s")).containsExactly("t");
    }
  }

  @Test
  void aReplyOfUnknownFateIsKeptForTheNextRestore() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = replied(false)) {
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      output.last().fail();
      next.runMails();
      state = next.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      assertThat(output.asked()).hasSize(2);
      output.last().allLost();
      next.runMails();
      assertThat(next.endings()).containsExactly("t:stop");
    }
  }

  @Test
  void nothingIsEmittedAgainBehindTheLastSavepointUnlessThatFails() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = replied(false)) {
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      next.snapshotWithLocalState(7, 7, SavepointType.terminate(SavepointFormatType.CANONICAL));
      output.last().allLost();
      next.runMails();
      assertThat(next.replies()).isEmpty();
      next.abortCheckpoint(7);
      assertThat(next.endings()).containsExactly("t:stop");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"erase", "erase_tenant"})
  void aReplyOfAnErasedSessionIsEmittedAgainWithoutItsText(String how) throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(false)) {
      h.setProcessingTime(EMITTED);
      h.open();
      h.send(Events.message("s", "t").of("acme")).settle();
      if (how.equals("erase")) {
        h.send(Events.of(EventKind.ERASE, "s", null).of("acme"));
      } else {
        h.control("erase_tenant", "acme", null).runMails();
      }
      state = h.snapshot();
    }
    try (ServingHarness next = restored(state, TOO_LATE)) {
      output.last().allLost();
      next.runMails();
      assertThat(next.reply("t"))
          .returns("", Reply::text)
          .returns("cancelled", Reply::finishReason)
          .returns(new ReplyError(ErrorCode.SESSION_ENDED, "the session was erased"), Reply::error);
    }
  }

  @ParameterizedTest
  @CsvSource({"1,2", "2,1"})
  void unconfirmedRepliesMoveWithTheirKeyGroups(int before, int after) throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[before];
    for (int i = 0; i < before; i++) {
      try (ServingHarness h = subtask(before, i)) {
        h.setProcessingTime(EMITTED);
        h.open();
        for (int s = 0; s < 8; s++) {
          if (ServingHarness.ownerOf("s" + s, before) == i) {
            h.send(Events.message("s" + s, "t"));
          }
        }
        h.settle();
        states[i] = h.snapshot();
      }
    }
    OperatorSubtaskState state = AbstractStreamOperatorTestHarness.repackageState(states);
    List<String> again = new ArrayList<>();
    for (int i = 0; i < after; i++) {
      try (ServingHarness h = subtask(after, i)) {
        h.setProcessingTime(TOO_LATE);
        h.restore(state, before);
        output.last().allLost();
        h.runMails();
        h.replies().forEach(reply -> again.add(reply.session()));
      }
    }
    assertThat(again).containsExactlyInAnyOrder("s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
  }

  private ServingHarness subtask(int parallelism, int subtask) throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    return ServingHarness.of(engine, ServingOptions.DEFAULT, output, parallelism, subtask);
  }

  @Test
  void everyKindOfReplyIsKept() throws Exception {
    try (ServingHarness h = harness(false)) {
      h.open();
      h.send(
          Events.of(EventKind.OPEN, "s", "open"),
          Events.message("s", "message"),
          Events.of(EventKind.QUERY, "s", "query"),
          Events.of(EventKind.FORK, "s", "rejected"));
      h.settle();
      assertThat(unconfirmed(h, "s"))
          .containsExactlyInAnyOrder("open", "message", "query", "rejected");
      for (Map.Entry<String, EmittedReply> each : state(h, "s").entries()) {
        assertThat(each.getValue().reply())
            .usingRecursiveComparison()
            .isEqualTo(h.reply(each.getKey()));
      }
    }
  }
}
