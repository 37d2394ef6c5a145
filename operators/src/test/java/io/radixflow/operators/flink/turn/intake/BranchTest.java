package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BranchTest {

  private static Events regenerate(String turn) {
    return Events.of(EventKind.REGENERATE, "s", turn);
  }

  private static List<String> history(ServingHarness h, String branch, String queryTurn)
      throws Exception {
    return h
        .send(Events.of(EventKind.QUERY, "s", queryTurn).on(branch))
        .reply(queryTurn)
        .items()
        .stream()
        .map(Reply.Item::content)
        .toList();
  }

  @Test
  void aForkSharesItsAncestryAndThenDiffers() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2")).settle();
      h.send(Events.fork("s", "f", "b", "t1"), Events.message("s", "t3").on("b")).settle();
      String first = h.reply("t1").text();
      assertThat(history(h, "main", "q1"))
          .containsExactly("text of t1", first, "text of t2", h.reply("t2").text());
      assertThat(history(h, "b", "q2"))
          .containsExactly("text of t1", first, "text of t3", h.reply("t3").text());
      assertThat(TurnOrderTest.text(h.engine().submitted().get(2).prompt()))
          .contains("text of t1", "text of t3")
          .doesNotContain("text of t2");
    }
  }

  @Test
  void theFirstMessageCanBeEdited() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2")).settle();
      h.send(regenerate("e").at("t1").with(new Message("user", "edited"))).settle();
      assertThat(history(h, "main", "q")).containsExactly("edited", h.reply("e").text());
      assertThat(TurnOrderTest.text(h.engine().submitted().get(2).prompt()))
          .contains("edited")
          .doesNotContain("text of t1");
      h.send(regenerate("r")).settle();
      assertThat(history(h, "main", "q2")).as("what was edited").startsWith("edited").hasSize(2);
    }
  }

  @Test
  void anEditOnAForkLeavesTheFirstMessageOfTheOtherBranch() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.fork("s", "f", "b", "t1")).settle();
      h.send(regenerate("e").on("b").at("t1").with(new Message("user", "edited"))).settle();
      assertThat(history(h, "b", "q1")).containsExactly("edited", h.reply("e").text());
      assertThat(history(h, "main", "q2")).containsExactly("text of t1", h.reply("t1").text());
    }
  }

  @Test
  void aForkAtARunningTurnWaitsForItAndItsMessagesForTheFork() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
          Events.message("s", "t1"),
          Events.message("s", "t2"),
          Events.fork("s", "f", "b", "t1"),
          Events.message("s", "t3").on("b"));
      assertThat(h.replies()).isEmpty();
      h.settle();
      assertThat(h.endings()).containsExactlyInAnyOrder("t1:stop", "f:stop", "t2:stop", "t3:stop");
      assertThat(history(h, "b", "q")).contains("text of t1").doesNotContain("text of t2");
    }
  }

  @Test
  void aForkOfAnUnknownBranchOrTurnIsRejectedAndSaysWhich() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(
              Events.fork("s", "f1", "b", null).on("nowhere"),
              Events.fork("s", "f2", "b", "t9"),
              Events.fork("s", "f3", "main", "t1"),
              Events.message("s", "t2").on("b"))
          .settle();
      assertThat(h.reply("f1").error().message()).contains("no branch 'nowhere'");
      assertThat(h.reply("f2").error().message()).contains("no turn 't9'");
      assertThat(h.reply("f3").error().message()).contains("'main' already");
      assertThat(h.reply("t2").error().message()).contains("no branch 'b'");
      assertThat(h.endings())
          .containsExactly("t1:stop", "f1:rejected", "f2:rejected", "f3:rejected", "t2:rejected");
    }
  }

  @Test
  void messagesBehindAForkThatFailsAreRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
          Events.message("s", "t1"),
          Events.fork("s", "f", "b", "t1"),
          Events.message("s", "t2").on("b"),
          Events.of(EventKind.CANCEL, "s", "t1"));
      h.settle();
      assertThat(h.endings()).containsExactly("t1:cancelled", "f:rejected", "t2:rejected");
    }
  }

  @Test
  void aSessionHasABoundedNumberOfBranches() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxBranches = 2))) {
      h.send(
          Events.message("s", "t1"),
          Events.fork("s", "f1", "b1", null),
          Events.fork("s", "f2", "b2", null));
      h.settle();
      assertThat(h.endings()).containsExactlyInAnyOrder("t1:stop", "f1:stop", "f2:rejected");
      assertThat(h.reply("f2").error().message()).contains("limit of 2 branches");
    }
  }

  @Test
  void regenerateReplacesTheLastReplyAndDrawsAnotherOne() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"), regenerate("r1")).settle();
      assertThat(history(h, "main", "q"))
          .containsExactly("text of t1", h.reply("t1").text(), "text of t2", h.reply("r1").text());
      List<ScriptedEngine.Submitted> runs = h.engine().submitted();
      assertThat(runs.get(2).prompt()).isEqualTo(runs.get(1).prompt());
      assertThat(runs.get(2).seed()).isNotEqualTo(runs.get(1).seed());
    }
  }

  @Test
  void regenerateOfAnEarlierTurnDropsWhatCameAfterIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2")).settle();
      h.send(regenerate("r1").at("t1")).settle();
      assertThat(history(h, "main", "q")).containsExactly("text of t1", h.reply("r1").text());
      h.send(Events.message("s", "t3")).settle();
      assertThat(TurnOrderTest.text(h.engine().submitted().get(3).prompt()))
          .contains("text of t1", "text of t3")
          .doesNotContain("text of t2");
    }
  }

  @Test
  void aRegenerationLeavesForksOfTheOldReplyAlone() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.fork("s", "f", "b", "t1")).settle();
      h.send(regenerate("r1"), Events.message("s", "t2").on("b")).settle();
      assertThat(history(h, "b", "q1")).startsWith("text of t1", h.reply("t1").text()).hasSize(4);
      assertThat(history(h, "main", "q2")).containsExactly("text of t1", h.reply("r1").text());
    }
  }

  @Test
  void turnsThatNoBranchNeedsLeaveTheState() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      for (int i = 0; i < 5; i++) {
        h.send(regenerate("r" + i)).settle();
      }
      assertThat(h.turnsKept("s")).isEqualTo(1);
      assertThat(history(h, "main", "q")).containsExactly("text of t1", h.reply("r4").text());
    }
  }

  @Test
  void aCancelledRegenerationKeepsTheOldReply() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(regenerate("r1")).generate(2).send(Events.of(EventKind.CANCEL, "s", "r1"));
      assertThat(h.reply("r1").finishReason()).isEqualTo("cancelled");
      assertThat(history(h, "main", "q")).containsExactly("text of t1", h.reply("t1").text());
    }
  }

  @Test
  void regenerateWithoutAReplyIsRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.OPEN, "s", null));
      h.send(regenerate("r1"), Events.message("s", "t1"), regenerate("r2").at("t9")).settle();
      assertThat(h.reply("r1").error().message()).contains("no reply to make again");
      assertThat(h.reply("r2").error().message()).contains("no turn 't9'");
    }
  }
}
