package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ServiceClass;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
public class TurnOrderTest {

  @Test
  void aMessageGetsItsDeltasThenOneReplyWithTheSameText() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      Reply reply = h.reply("t1");
      assertThat(reply.text()).hasSize(6).isEqualTo(h.streamed("t1"));
      assertThat(reply.finishReason()).isEqualTo("stop");
      assertThat(reply.usage().completionTokens()).isEqualTo(7);
      ReplyDelta last = h.deltas().get(h.deltas().size() - 1);
      assertThat(last.finishReason()).isEqualTo("stop");
      assertThat(last.usage().promptTokens()).isEqualTo(reply.usage().promptTokens()).isPositive();
      assertThat(h.deltas().stream().map(ReplyDelta::attempt)).containsOnly(reply.attempt());
    }
  }

  @Test
  void turnsOfABranchRunOneAfterTheOther() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"), Events.message("s", "t3"));
      assertThat(h.engine().running()).isEqualTo(1);
      h.settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop", "t3:stop");
    }
  }

  @Test
  void turnsOfDifferentSessionsRunTogether() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("a", "t1"), Events.message("b", "t1"));
      assertThat(h.engine().running()).isEqualTo(2);
    }
  }

  @Test
  void deltasOfAStepAreOneRecordInTheOrderOfTheTurns() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("a", "t1"), Events.message("b", "t2"), Events.message("c", "t3"));
      h.generate(1);
      assertThat(h.steps()).hasSize(1);
      assertThat(h.deltas()).extracting(ReplyDelta::turn).containsExactly("t1", "t2", "t3");

      h.settle();
      assertThat(h.steps()).allSatisfy(step -> assertThat(step).hasSize(3));
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop", "t3:stop");
      assertThat(h.streamed("t2")).isEqualTo(h.reply("t2").text());
    }
  }

  @Test
  void aDeltaThatComesFromNoStepIsEmittedAtOnce() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"));
      h.generate(1);
      h.send(Events.of(EventKind.CANCEL, "s", "t1"));
      assertThat(h.deltas()).last().extracting(ReplyDelta::finishReason).isEqualTo("cancelled");
    }
  }

  @Test
  void tenantsTakeTurnsHoweverMuchOneHasQueued() throws Exception {
    ServingOptions one = Options.with(options -> options.maxRunning = 1);
    try (ServingHarness h = ServingHarness.opened(one)) {
      for (int i = 0; i < 5; i++) {
        h.send(Events.message("a" + i, "a" + i).of("a"));
      }
      h.send(Events.message("b", "b").of("b")).settle();
      assertThat(h.endings().indexOf("b:stop")).isLessThanOrEqualTo(2);
      assertThat(h.endings()).hasSize(6);
    }
  }

  @Test
  void theEngineLearnsTenantPriorityAndSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("a").with(Events.priority(7)))
          .send(Events.message("s", "t2").of("a"))
          .settle();
      assertThat(h.engine().submitted())
          .extracting(ScriptedEngine.Submitted::service)
          .containsExactly(new ServiceClass("a", 7, "s"), new ServiceClass("a", 0, "s"));
    }
  }

  @Test
  void aPriorityOutOfRangeIsRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(Events.priority(101))).settle();
      assertThat(h.endings()).containsExactly("t1:rejected");
      assertThat(h.reply("t1").error().message())
          .isEqualTo("priority is 101; it must be -100 to 100");
    }
  }

  @Test
  void theNextPromptExtendsThePromptAndReplyBefore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2", "and now?")).settle();
      List<ScriptedEngine.Submitted> prompts = h.engine().submitted();
      String second = text(prompts.get(1).prompt());
      assertThat(second)
          .isEqualTo(
              text(prompts.get(0).prompt())
                  + h.reply("t1").text()
                  + "|\n|user\nand now?|\n|assistant\n");
    }
  }

  @Test
  void aReplyCutByItsLimitIsClosedBeforeTheNextTurn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(Events.maxTokens(2)), Events.message("s", "t2"))
          .settle();
      assertThat(h.reply("t1").finishReason()).isEqualTo("length");
      assertThat(h.reply("t1").text()).hasSize(2);
      assertThat(text(h.engine().submitted().get(1).prompt()))
          .contains("assistant\n" + h.reply("t1").text() + "|\n|user");
    }
  }

  @Test
  void aReplacingTurnEndsRunningAndWaitingTurnsAndReplacesThemInTheHistory() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2")).generate(3);
      h.send(Events.message("s", "t3").replacing()).settle();
      assertThat(h.endings()).containsExactly("t1:replaced", "t2:replaced", "t3:stop");
      assertThat(h.reply("t1").text()).isEqualTo(h.streamed("t1")).hasSize(3);
      String prompt = text(h.engine().submitted().get(1).prompt());
      assertThat(prompt).contains("text of t3").doesNotContain("text of t1", "text of t2");
    }
  }

  @Test
  void aReplacingTurnKeepsTheForkThatMakesItsBranch() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.fork("s", "f", "b", null));
      h.send(Events.message("s", "t2").on("b"), Events.message("s", "t3").on("b").replacing());
      h.settle();
      assertThat(h.endings()).containsExactly("t2:replaced", "t1:stop", "f:stop", "t3:stop");
    }
  }

  @Test
  void noMoreTurnsThanAllowedAreWithTheEngine() throws Exception {
    ServingOptions options = Options.with(o -> o.maxRunning = 2);
    try (ServingHarness h = ServingHarness.opened(options)) {
      for (int i = 0; i < 5; i++) {
        h.send(Events.message("s" + i, "t" + i));
      }
      assertThat(h.engine().running()).isEqualTo(2);
      h.settle();
      assertThat(h.endings())
          .containsExactly("t0:stop", "t1:stop", "t2:stop", "t3:stop", "t4:stop");
    }
  }

  /** Letters as they are, special tokens as a bar. */
  public static String text(int[] ids) {
    StringBuilder text = new StringBuilder();
    for (int id : ids) {
      text.append(id < 256 ? (char) id : '|');
    }
    return text.toString();
  }
}
