package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns that name the turn before them, and the branches that they go to. */
@Timeout(180)
class FollowingTurnTest {

  private static ConversationEvent after(String previous, String turn) {
    return ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
        .messages(List.of(new Message("user", "text of " + turn)))
        .previousTurn(previous)
        .build();
  }

  private static ServingHarness send(ServingHarness h, ConversationEvent... events)
      throws Exception {
    for (ConversationEvent event : events) {
      h.send(event);
    }
    return h;
  }

  /** The turns of a branch, oldest first. */
  private static List<String> turns(ServingHarness h, String branch) throws Exception {
    String query = "q" + h.replies().size();
    return h.send(Events.of(EventKind.QUERY, "s", query).on(branch)).reply(query).items().stream()
        .filter(item -> item.role().equals("user"))
        .map(Reply.Item::turn)
        .toList();
  }

  private static String promptOf(ServingHarness h, String turn) {
    return h.engine().submitted().stream()
        .filter(run -> run.label().equals("s/" + turn))
        .map(run -> TurnOrderTest.text(run.prompt()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aTurnThatFollowsTheLatestGoesOnWithItsBranch() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1")).settle();
      send(h, after("t1", "t2")).settle();
      assertThat(h.reply("t2").branch()).isEqualTo("main");
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(h.turnsKept("s")).isEqualTo(2);
    }
  }

  @Test
  void aTurnThatFollowsOneWithAFollowerBeginsABranchNamedAfterItself() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1")).settle();
      send(h, after("t1", "t2")).settle();
      send(h, after("t1", "t3")).settle();
      send(h, after("t3", "t4")).settle();
      assertThat(h.reply("t3").branch()).isEqualTo("t3");
      assertThat(h.reply("t4").branch()).isEqualTo("t3");
      assertThat(h.deltas())
          .filteredOn(delta -> delta.turn().equals("t4"))
          .extracting(ReplyDelta::branch)
          .containsOnly("t3");
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(turns(h, "t3")).containsExactly("t1", "t3", "t4");
      assertThat(promptOf(h, "t4"))
          .contains("text of t1", "text of t3", h.reply("t3").text())
          .doesNotContain("text of t2");
    }
  }

  @Test
  void turnsThatRunOrWaitCountAsTheLatest() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2"), after("t2", "t3"), after("t1", "t4")).settle();
      assertThat(h.replies()).extracting(Reply::finishReason).containsOnly("stop");
      assertThat(turns(h, "main")).containsExactly("t1", "t2", "t3");
      assertThat(turns(h, "t4")).containsExactly("t1", "t4");
    }
  }

  @Test
  void severalTurnsAfterTheSameOneRunSideBySide() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "a"), after("", "b"), after("", "c"));
      assertThat(h.engine().running()).isEqualTo(3);
      h.settle();
      assertThat(h.replies()).extracting(Reply::branch).containsExactly("main", "b", "c");
      send(h, after("b", "d")).settle();
      assertThat(turns(h, "b")).containsExactly("b", "d");
      assertThat(promptOf(h, "d")).contains("text of b").doesNotContain("text of a");
    }
  }

  @Test
  void aBranchAfterARunningTurnWaitsForIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2"), after("t1", "t3"), after("t3", "t4"));
      assertThat(h.engine().running()).isEqualTo(1);
      h.settle();
      assertThat(h.endings().get(0)).isEqualTo("t1:stop");
      assertThat(turns(h, "t3")).containsExactly("t1", "t3", "t4");
    }
  }

  @Test
  void anUnknownTurnIsRejectedAndOpensNoSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("t0", "t1"), after("", "t2"), after("nothing", "t3")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t3:rejected", "t2:stop");
      assertThat(h.reply("t1").error().message()).isEqualTo("there is no turn 't0' in the session");
    }
  }

  @Test
  void aTurnWhosePredecessorLeavesNothingIsRejectedWithAllThatFollowIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2"), after("t1", "t3"), after("t3", "t4"));
      h.send(Events.of(EventKind.CANCEL, "s", "t1")).settle();
      assertThat(h.endings())
          .containsExactlyInAnyOrder("t1:cancelled", "t2:rejected", "t3:rejected", "t4:rejected");
      assertThat(h.reply("t2").error().message()).contains("no reply to continue");
      assertThat(h.reply("t3").error().message()).contains("no reply to continue");
      send(h, after("", "t5")).settle();
      assertThat(h.reply("t5").branch()).isEqualTo("main");
    }
  }

  @Test
  void aTurnFollowsWhatACancelledOneHadShown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2")).generate(3);
      h.send(Events.of(EventKind.CANCEL, "s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:cancelled", "t2:stop");
      assertThat(promptOf(h, "t2")).contains("assistant\n" + h.reply("t1").text() + "|\n|user");
    }
  }

  @Test
  void aTurnWhoseReplyWasMadeAgainIsFollowedByItsNewReply() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1")).settle();
      h.send(Events.of(EventKind.REGENERATE, "s", "r1")).settle();
      send(h, after("t1", "t2"), after("r1", "t3")).settle();
      assertThat(h.reply("t2").branch()).isEqualTo("main");
      assertThat(h.reply("t3").branch()).isEqualTo("t3");
      assertThat(promptOf(h, "t2")).contains(h.reply("r1").text());
      assertThat(promptOf(h, "t3")).contains(h.reply("r1").text());
    }
  }

  @Test
  void aTurnKeepsWhatItFollowsWhileThatIsMadeAgain() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxRunning = 1))) {
      send(h, after("", "t1")).settle();
      h.send(Events.of(EventKind.REGENERATE, "s", "r1"));
      send(h, after("t1", "t2")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "r1:stop", "t2:stop");
      assertThat(promptOf(h, "t2")).contains(h.reply("t1").text());
      assertThat(turns(h, "t2")).containsExactly("t1", "t2");
    }
  }

  @Test
  void aBranchGetsAnotherNameWhereItsTurnsIdIsTaken() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2")).settle();
      h.send(Events.fork("s", "f", "t3", "t1")).settle();
      send(h, after("t1", "t3"), after("t1", "main")).settle();
      assertThat(h.reply("t3").branch()).as("the fork has no turn yet").isEqualTo("t3");
      assertThat(h.reply("main").branch()).isEqualTo("main'");
    }
  }

  @Test
  void theLeastRecentlyUsedBranchMakesRoomAndLeavesTheState() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxBranches = 3))) {
      send(h, after("", "t1"), after("t1", "m")).settle();
      send(h, after("t1", "a"), after("t1", "b")).settle();
      send(h, after("a", "a2")).settle();
      send(h, after("t1", "c")).settle();
      assertThat(h.reply("c").branch()).isEqualTo("c");
      assertThat(turns(h, "a")).containsExactly("t1", "a", "a2");
      assertThat(turns(h, "main")).containsExactly("t1", "m");
      send(h, after("b", "x")).settle();
      assertThat(h.reply("x").error().message()).contains("no turn 'b'");
      assertThat(h.turnsKept("s")).isEqualTo(5);
    }
  }

  @Test
  void branchesWhoseTurnsRunMakeNoRoom() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxBranches = 2))) {
      send(h, after("", "t1"), after("", "t2"), after("", "t3"));
      assertThat(h.reply("t3").error().message()).contains("limit of 2 branches");
      send(h.settle(), after("", "t4")).settle();
      assertThat(h.endings()).containsExactly("t3:rejected", "t1:stop", "t2:stop", "t4:stop");
    }
  }

  @Test
  void aTurnThatWaitsForAnotherGoesOnAfterARestore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      send(h, after("", "t1"), after("t1", "t2"), after("t1", "t3")).generate(3);
      var state = h.snapshot();
      try (ServingHarness after =
          ServingHarness.of(new ScriptedEngine(4096, 6), Options.with(o -> {})).restore(state, 1)) {
        send(after, after("t3", "t4")).settle();
        assertThat(after.replies()).extracting(Reply::finishReason).containsOnly("stop");
        assertThat(turns(after, "main")).containsExactly("t1", "t2");
        assertThat(turns(after, "t3")).containsExactly("t1", "t3", "t4");
      }
    }
  }
}
