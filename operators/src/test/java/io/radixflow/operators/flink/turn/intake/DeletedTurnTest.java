package io.radixflow.operators.flink.turn.intake;

import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.assistant;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.prompt;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.turns;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.user;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns that their sender deletes. */
@Timeout(120)
class DeletedTurnTest {

  private static Events delete(String turn, String deleted) {
    return Events.of(EventKind.DELETE_TURN, "s", turn).at(deleted);
  }

  private static Events after(String previous, String turn) {
    return Events.message("s", turn).with(e -> e.previousTurn(previous));
  }

  @Test
  void theLatestTurnIsRemovedAndItsBranchGoesOnBeforeIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2"), after("t2", "t3")).settle();
      h.send(delete("d1", "t3"), delete("d2", "t2")).settle();
      assertThat(h.reply("d1").finishReason()).isEqualTo("stop");
      assertThat(turns(h, "main")).containsExactly("t1");
      assertThat(h.turnsKept("s")).isEqualTo(1);
      h.send(after("t1", "t4")).settle();
      assertThat(h.reply("t4").branch()).isEqualTo("main");
      assertThat(prompt(h, "t4"))
          .containsExactly(user("text of t1"), assistant(h.reply("t1").text()), user("text of t4"));
    }
  }

  @Test
  void aTurnWithFollowersIsHiddenAndStaysInTheirContext() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2")).settle();
      h.send(delete("d", "t1"), after("t2", "t3"), after("t1", "t4")).settle();
      assertThat(turns(h, "main")).containsExactly("t2", "t3");
      assertThat(prompt(h, "t3")).startsWith(user("text of t1"), assistant(h.reply("t1").text()));
      assertThat(h.reply("t4").error().code()).isEqualTo(ErrorCode.UNKNOWN_TURN);
      assertThat(h.send(Events.of(EventKind.QUERY, "s", "q").at("t1")).reply("q").error().code())
          .isEqualTo(ErrorCode.UNKNOWN_TURN);
      assertThat(h.send(delete("d2", "t1")).reply("d2").error().code())
          .isEqualTo(ErrorCode.UNKNOWN_TURN);
    }
  }

  @Test
  void aHiddenTurnLeavesWithTheLastTurnThatFollowsIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2"), after("t2", "t3")).settle();
      h.send(delete("d1", "t2"), delete("d2", "t3")).settle();
      assertThat(turns(h, "main")).containsExactly("t1");
      assertThat(h.turnsKept("s")).isEqualTo(1);
    }
  }

  @Test
  void aTurnThatIsFollowedOnAnotherBranchStaysInThatOne() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2")).settle();
      h.send(Events.fork("s", "f", "b", "t2"), Events.message("s", "t3").on("b")).settle();
      h.send(delete("d", "t2"), Events.message("s", "t4")).settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t4");
      assertThat(turns(h, "b")).containsExactly("t1", "t3");
      assertThat(prompt(h, "t4")).doesNotContain(user("text of t2"));
    }
  }

  @Test
  void aTurnThatRunsOrWaitsIsCancelledAndNothingOfItIsKept() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2")).generate(3);
      h.send(delete("d", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:cancelled", "d:stop", "t2:rejected");
      assertThat(h.send(Events.of(EventKind.QUERY, "s", "q").at("t1")).reply("q").error().code())
          .isEqualTo(ErrorCode.UNKNOWN_TURN);
      assertThat(turns(h, "main")).isEmpty();
    }
  }

  @Test
  void aTurnThatIsFollowedByARunningOneLeavesWhenThatIsCancelled() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1")).settle();
      h.send(after("t1", "t2"), delete("d", "t1"));
      h.send(Events.of(EventKind.CANCEL, "s", "t2")).settle();
      assertThat(h.reply("t2").finishReason()).isEqualTo("cancelled");
      h.send(Events.message("s", "t3")).settle();
      assertThat(prompt(h, "t3")).containsExactly(user("text of t3"));
      assertThat(h.turnsKept("s")).isEqualTo(1);
    }
  }

  @Test
  void aReplyThatContinuesADeletedTurnIsTheSameAfterARestore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1")).settle();
      h.send(after("t1", "t2"), delete("d", "t1")).generate(3);
      var state = h.snapshot();
      h.send(after("t2", "t3")).settle();
      try (ServingHarness again =
          ServingHarness.of(new ScriptedEngine(4096, 6), Options.with(o -> {})).restore(state, 1)) {
        again.send(after("t2", "t3")).settle();
        assertThat(again.reply("t2").text()).isEqualTo(h.reply("t2").text());
        assertThat(prompt(again, "t3")).isEqualTo(prompt(h, "t3"));
        assertThat(turns(again, "main")).containsExactly("t2", "t3");
      }
    }
  }

  @Test
  void aDeletedTurnIsNotMatchedByAWholeConversation() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(after("", "t1"), after("t1", "t2")).settle();
      h.send(delete("d", "t1"));
      h.send(whole("t3", user("text of t1"), assistant(h.reply("t1").text()), user("more")));
      h.settle();
      assertThat(turns(h, "t3")).containsExactly("t3");
    }
  }

  @Test
  void deletingWhatIsNotThereIsRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(delete("d1", "t1")).settle();
      assertThat(h.reply("d1").finishReason()).isEqualTo("rejected");
      assertThat(h.reply("d1").error().code()).isEqualTo(ErrorCode.UNKNOWN_SESSION);
    }
  }
}
