package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CancelTest {

  private static Events cancel(String session, String turn) {
    return Events.of(EventKind.CANCEL, session, turn);
  }

  @Test
  void aCancelledRunningTurnEndsAtOnceWithTheTextThatWasShown() throws Exception {
    try (ServingHarness h = ServingHarness.opened();
        ServingHarness undisturbed = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).generate(3).send(cancel("s", "t1"));
      undisturbed.send(Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:cancelled");
      assertThat(h.reply("t1").text()).hasSize(3).isEqualTo(h.streamed("t1"));
      assertThat(undisturbed.reply("t1").text()).startsWith(h.reply("t1").text());
      assertThat(h.engine().running()).isZero();
    }
  }

  @Test
  void textThatTheUserHasReadStaysInTheConversation() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).generate(3).send(cancel("s", "t1"));
      h.send(Events.message("s", "t2")).settle();
      assertThat(TurnOrderTest.text(h.engine().submitted().get(1).prompt()))
          .contains("text of t1", "assistant\n" + h.reply("t1").text() + "|\n|user");
    }
  }

  @Test
  void aCancelOvertakesItsSessionsQueue() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"), Events.message("s", "t3"));
      h.send(cancel("s", "t2"));
      assertThat(h.endings()).containsExactly("t2:cancelled");
      h.settle();
      assertThat(h.endings()).containsExactly("t2:cancelled", "t1:stop", "t3:stop");
    }
  }

  @Test
  void aCancelWithoutATurnEndsAllTurnsOfItsBranch() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.fork("s", "f", "b", null), Events.message("s", "t2").on("b"));
      h.send(Events.message("s", "t3"), Events.message("s", "t4"), cancel("s", null)).settle();
      assertThat(h.endings())
          .containsExactly("t1:stop", "f:stop", "t3:cancelled", "t4:cancelled", "t2:stop");
    }
  }

  @Test
  void aCancelThatComesBeforeItsTurnIsKept() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(cancel("s", "t1"), Events.message("s", "t1"), Events.message("s", "t2")).settle();
      assertThat(h.endings()).containsExactly("t1:cancelled", "t2:stop");
      assertThat(h.engine().submitted()).hasSize(1);
    }
  }

  @Test
  void aCancelThatComesLongBeforeItsTurnIsForgotten() throws Exception {
    ServingOptions options = Options.with(o -> o.cancelRetention = Duration.ofSeconds(5));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(cancel("s", "t1"));
      h.setProcessingTime(h.getProcessingTime() + 5_000);
      h.send(Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:stop");
    }
  }

  @Test
  void aCancelOfAFinishedTurnDoesNothing() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(cancel("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:stop");
    }
  }
}
