package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class ContextWindowTest {

  private static ServingHarness opened(ServingOptions options) throws Exception {
    ServingHarness h = ServingHarness.of(new ScriptedEngine(400, 6), options);
    h.open();
    return h;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLongConversationDropsItsOldestTurnsAndReportsIt(boolean rocksDb) throws Exception {
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(400, 6), ServingOptions.DEFAULT).setBackend(rocksDb)) {
      h.open();
      for (int i = 0; i < 40; i++) {
        h.send(Events.message("s", "t" + i).with(Events.maxTokens(20))).settle();
      }
      assertThat(h.replies()).extracting(Reply::finishReason).containsOnly("stop");
      assertThat(h.replies()).extracting(Reply::droppedTurns).isSorted().contains(0);
      int dropped = h.reply("t39").droppedTurns();
      assertThat(dropped).isGreaterThan(25);
      h.send(Events.of(EventKind.QUERY, "s", "q"));
      assertThat(h.reply("q").items()).hasSize(2 * (40 - dropped));
      assertThat(h.turnsKept("s")).isEqualTo(40 - dropped);
    }
  }

  /** It would otherwise cost the oldest turns of a large window. */
  @Test
  void aReplyWithoutALimitTakesNoQuarterOfALargeWindowFromTheConversation() throws Exception {
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(16_384, 6), ServingOptions.DEFAULT)) {
      h.open();
      Message large = new Message("user", "x".repeat(13_000));
      h.send(
              Events.message("s", "t1"),
              Events.message("s", "t2").with(e -> e.messages(List.of(large))))
          .settle();
      assertThat(h.reply("t2").finishReason()).isEqualTo("stop");
      assertThat(h.reply("t2").droppedTurns()).isZero();
    }
  }

  @Test
  void aTurnIdOutlivesItsDroppedTurn() throws Exception {
    try (ServingHarness h = opened(ServingOptions.DEFAULT)) {
      for (int i = 0; i < 20; i++) {
        h.send(Events.message("s", "t" + i).with(Events.maxTokens(20))).settle();
      }
      assertThat(h.reply("t19").droppedTurns()).isPositive();
      h.send(Events.message("s", "t0"), Events.fork("s", "f", "b", "t0")).settle();
      assertThat(h.replies()).hasSize(21);
      assertThat(h.reply("f").error().message()).contains("no turn 't0'");
    }
  }

  @Test
  void theOldestTurnThatIsKeptCanBeRegenerated() throws Exception {
    try (ServingHarness h = opened(ServingOptions.DEFAULT)) {
      for (int i = 0; i < 20; i++) {
        h.send(Events.message("s", "t" + i).with(Events.maxTokens(20))).settle();
      }
      int dropped = h.reply("t19").droppedTurns();
      h.send(Events.of(EventKind.REGENERATE, "s", "r").at("t" + dropped)).settle();
      assertThat(h.reply("r").finishReason()).isEqualTo("stop");
      assertThat(h.reply("r").droppedTurns()).isEqualTo(dropped);
      h.send(Events.message("s", "next")).settle();
      assertThat(h.reply("next").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void ifOverflowIsRejectedTheSessionContinuesFromAFork() throws Exception {
    ServingOptions options = Options.with(o -> o.overflow = Overflow.REJECT);
    try (ServingHarness h = opened(options)) {
      for (int i = 0; i < 12; i++) {
        h.send(Events.message("s", "t" + i).with(Events.maxTokens(20))).settle();
      }
      assertThat(h.reply("t11").finishReason()).isEqualTo("rejected");
      assertThat(h.reply("t11").error().message()).contains("context window of 400");
      h.send(Events.fork("s", "f", "b", "t1"), Events.message("s", "go on").on("b")).settle();
      assertThat(h.reply("go on").finishReason()).isEqualTo("stop");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTurnSaysItselfWhetherOldTurnsAreDropped(boolean drops) throws Exception {
    Overflow other = drops ? Overflow.REJECT : Overflow.DROP_OLDEST;
    GenerationOptions given =
        GenerationOptions.builder().maxTokens(20).truncation(drops ? "auto" : "disabled").build();
    try (ServingHarness h = opened(Options.with(o -> o.overflow = other))) {
      for (int i = 0; i < 12; i++) {
        h.send(Events.message("s", "t" + i).with(given)).settle();
      }
      assertThat(h.reply("t11").finishReason()).isEqualTo(drops ? "stop" : "rejected");
      assertThat(h.reply("t11").droppedTurns() > 0).isEqualTo(drops);
    }
  }

  @Test
  void aMessageLargerThanTheWindowIsRejectedWithTheNumbers() throws Exception {
    try (ServingHarness h = opened(ServingOptions.DEFAULT)) {
      h.send(Events.message("s", "t1", "x".repeat(100_000)), Events.message("s", "t2")).settle();
      assertThat(h.reply("t1").finishReason()).isEqualTo("rejected");
      assertThat(h.reply("t1").error().message()).contains("100", "400");
      assertThat(h.reply("t2").finishReason()).isEqualTo("stop");
    }
  }
}
