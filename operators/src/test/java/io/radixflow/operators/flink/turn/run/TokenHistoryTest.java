package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A session's next prompt has the tokens of its earlier turns. */
@Timeout(180)
class TokenHistoryTest {

  /** Returns what a turn adds to the prompt before its reply. */
  private static String asked(String turn) {
    return "|user\ntext of " + turn + "|\n|assistant\n";
  }

  private static String prompt(ServingHarness h, int request) {
    return TurnOrderTest.text(h.engine().submitted().get(request).prompt());
  }

  /** Case S5: each prompt is the one before, its reply, and what is new. */
  @Test
  void aPromptIsAllThatCameBeforeAndTheNewTurn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      StringBuilder expected = new StringBuilder();
      for (int i = 0; i < 3; i++) {
        h.send(Events.message("s", "t" + i)).settle();
        expected.append(asked("t" + i));
        assertThat(prompt(h, i)).isEqualTo(expected.toString());
        expected.append(h.reply("t" + i).text()).append("|\n");
      }
    }
  }

  /** Case S6: turns that were replaced leave nothing, however many. */
  @Test
  void aTurnThatWasReplacedIsNotInThePromptsAfterIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.message("s", "t2")).generate(2);
      h.send(Events.message("s", "t3").replacing()).generate(2);
      h.send(Events.message("s", "t4").replacing()).settle();
      String good = asked("t1") + h.reply("t1").text() + "|\n";
      assertThat(prompt(h, 2)).isEqualTo(good + asked("t3"));
      assertThat(prompt(h, 3)).isEqualTo(good + asked("t4"));
    }
  }

  /** Case S7: a first turn that was replaced leaves a session that begins again. */
  @Test
  void aFirstTurnThatWasReplacedIsForgotten() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).generate(2);
      h.send(Events.message("s", "t2").replacing()).settle();
      h.send(Events.message("s", "t3")).settle();
      assertThat(prompt(h, 1)).isEqualTo(asked("t2"));
      assertThat(prompt(h, 2)).isEqualTo(asked("t2") + h.reply("t2").text() + "|\n" + asked("t3"));
    }
  }

  /** Case S8: of a reply that was cut at its limit, the next prompt has exactly that much. */
  @Test
  void theShownPartOfACutReplyIsInTheNextPrompt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(Events.maxTokens(4))).settle();
      h.send(Events.message("s", "t2")).settle();
      assertThat(h.reply("t1").text()).hasSize(4);
      assertThat(prompt(h, 1)).isEqualTo(asked("t1") + h.reply("t1").text() + "|\n" + asked("t2"));
    }
  }
}
