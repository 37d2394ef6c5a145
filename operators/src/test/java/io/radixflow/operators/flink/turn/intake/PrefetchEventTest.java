package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;

/**
 * A turn that is announced: answered at once where an answer is due, and of no effect on replies.
 */
class PrefetchEventTest {

  private static Events prefetch(String turn) {
    return Events.of(EventKind.PREFETCH, "s", turn);
  }

  @Test
  void anAnnouncedTurnReachesTheEngineAndChangesNothingElse() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(prefetch(null).of("acme"), prefetch("p").of("acme"));
      assertThat(h.endings()).containsExactly("t1:stop", "p:stop");
      assertThat(h.reply("p").text()).isEmpty();
      assertThat(h.deltas())
          .extracting(ReplyDelta::turn)
          .containsOnlyOnce("p")
          .containsOnly("p", "t1");
      assertThat(h.engine().submitted()).hasSize(1);
      assertThat(h.engine().expected()).hasSize(2);
      ScriptedEngine.Submitted expected = h.engine().expected().get(0);
      assertThat(TurnOrderTest.text(expected.prompt()))
          .endsWith("assistant\n" + h.reply("t1").text() + "|");
      assertThat(expected.namespace()).isEqualTo(h.engine().submitted().get(0).namespace());
      assertThat(expected.service().tenant()).isEqualTo("acme");
    }
  }

  @Test
  void theNextTurnBeginsWithWhatWasAnnounced() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(prefetch(null), Events.message("s", "t2")).settle();
      int[] expected = h.engine().expected().get(0).prompt();
      assertThat(h.engine().submitted().get(1).prompt()).startsWith(expected);
    }
  }

  @Test
  void anAnnouncementForABranchWithTurnsIsIgnored() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.message("s", "t2"), Events.message("s", "t3")).generate(2);
      h.send(prefetch("p")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "p:stop", "t2:stop", "t3:stop");
      assertThat(h.engine().expected()).isEmpty();
    }
  }

  @Test
  void anotherBranchCanBeAnnouncedMeanwhile() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.fork("s", "f", "other", null)).settle();
      h.send(Events.message("s", "t2")).generate(2);
      h.send(prefetch(null).on("other"));
      assertThat(h.engine().expected()).hasSize(1);
    }
  }

  @Test
  void aSystemPromptIsPreparedAndAnEmptySessionIsNot() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.OPEN, "s", null), prefetch(null));
      assertThat(h.engine().expected()).isEmpty();
      h.send(
          Events.of(EventKind.OPEN, "t", null).with(new Message("system", "Be brief.")),
          Events.of(EventKind.PREFETCH, "t", null));
      assertThat(TurnOrderTest.text(h.engine().expected().get(0).prompt())).contains("Be brief.");
    }
  }

  @Test
  void anAnnouncementForAnUnknownSessionIsIgnoredUnlessItHasATurnId() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prefetch(null), prefetch("p1"));
      h.send(Events.message("s", "t1")).settle();
      h.send(prefetch(null).on("none"), prefetch("p2").on("none"));
      h.send(Events.of(EventKind.CLOSE, "s", null), prefetch(null), prefetch("p3"));
      h.send(Events.of(EventKind.ERASE, "s", null), prefetch(null), prefetch("p4"));
      assertThat(h.endings())
          .containsExactly("p1:rejected", "t1:stop", "p2:stop", "p3:rejected", "p4:rejected");
      assertThat(h.reply("p1").error().message()).contains("no session 's'");
      assertThat(h.rejectedEvents()).isEmpty();
      assertThat(h.engine().expected()).isEmpty();
    }
  }

  @Test
  void anAnnouncementIsNotQueuedAndIsIgnoredWhileDraining() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      for (int i = 0; i < 100; i++) {
        h.send(prefetch(null));
      }
      assertThat(h.engine().expected()).hasSize(100);
      h.control("drain", null, null).send(prefetch("p"));
      assertThat(h.reply("p").finishReason()).isEqualTo("stop");
      assertThat(h.engine().expected()).hasSize(100);
    }
  }

  @Test
  void anotherTenantsAnnouncementIsRefused() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(prefetch("p").of("beta"));
      assertThat(h.reply("p").error().code()).isEqualTo(ErrorCode.WRONG_TENANT);
      assertThat(h.engine().expected()).isEmpty();
    }
  }

  @Test
  void itIsAnsweredOnceAlsoIfItIsCancelledBeforeOrSentAgain() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.of(EventKind.CANCEL, "s", "p1"), prefetch("p1"), prefetch("p2"));
      h.send(prefetch("p1"), prefetch("p2"), Events.of(EventKind.CANCEL, "s", "p2"));
      assertThat(h.endings()).containsExactly("t1:stop", "p1:cancelled", "p2:stop");
      assertThat(h.engine().expected()).hasSize(1);
      state = h.snapshot();
    }
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT).restore(state, 1)) {
      h.send(prefetch("p2")).settle();
      assertThat(h.replies()).isEmpty();
      assertThat(h.engine().expected()).isEmpty();
    }
  }
}
