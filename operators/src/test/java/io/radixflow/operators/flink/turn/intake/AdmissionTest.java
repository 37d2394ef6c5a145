package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class AdmissionTest {

  @Test
  void aTurnIdThatWasSeenIsIgnored() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t1", "other text")).settle();
      h.send(Events.message("s", "t1"), Events.message("other", "t1")).settle();
      assertThat(h.replies())
          .extracting(Reply::session, Reply::turn)
          .containsExactly(tuple("s", "t1"), tuple("other", "t1"));
    }
  }

  @Test
  void anInvalidEventIsAnsweredOnceHoweverOftenItIsSent() throws Exception {
    Events invalid = Events.of(null, "s", "t1").from(0, 5).with(e -> e.error("seed is a string"));
    Events resent = invalid.from(0, 6);
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(invalid).send(invalid).send(resent).send(Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected");
      assertThat(h.reply("t1").error().message()).isEqualTo("seed is a string");
      h.send(Events.message("s", "t2")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t2:stop");
    }
  }

  @Test
  void anEventWithoutAReadableKindIsKeptAsARejectedTurnOfItsSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      h.send(Events.of(null, "s", "t2").with(e -> e.error("type is unknown"))).settle();
      Reply.TurnState turn =
          h.send(Events.of(EventKind.QUERY, "s", "q").at("t2")).reply("q").turnState();
      assertThat(turn.finishReason()).isEqualTo("rejected");
      assertThat(turn.error().message()).isEqualTo("type is unknown");
    }
  }

  @Test
  void turnIdsAreKnownUntilTheSessionHasBeenIdleForTheRetention() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("s", "t1")).settle();
      for (int second = 2; second <= 30; second++) {
        h.setProcessingTime(second * 1_000);
        h.send(Events.of(EventKind.CANCEL, "s", null));
      }
      h.send(Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:stop");
      h.setProcessingTime(41_000);
      h.send(Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t1:stop");
    }
  }

  @Test
  void anEventWithoutATurnIdIsIgnoredAtAnOffsetThatWasRead() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").from(0, 10)).settle();
      h.send(Events.of(EventKind.CLOSE, "s", null).from(0, 9)).settle();
      h.send(Events.message("s", "t2").from(0, 11)).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop");
    }
  }

  @Test
  void aTopicThatWasMadeAnewIsReadFromOffsetZeroWithoutALoss() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").from(0, 10)).settle();
      h.send(Events.message("s", "t1").from(0, 0), Events.message("s", "t2").from(0, 1)).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop");
      Origin later = new Origin(0, 0, 5_000);
      h.send(Events.of(EventKind.CLOSE, "s", null).with(e -> e.origin(later))).settle();
      h.send(Events.message("s", "t3").from(0, 3)).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop", "t3:rejected");
    }
  }

  @Test
  void aSessionsQueueIsBounded() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxQueuedPerSession = 2))) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"), Events.message("s", "t3"));
      h.send(Events.message("other", "t4"));
      assertThat(h.endings()).containsExactly("t3:rejected");
      assertThat(h.reply("t3").error().message()).contains("session", "limit of 2");
      h.settle().send(Events.message("s", "t5")).settle();
      assertThat(h.reply("t5").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void aReplacingTurnCountsTheRoomOfTheTurnsThatItReplaces() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxQueuedPerSession = 1))) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2").replacing()).settle();
      assertThat(h.endings()).containsExactly("t1:replaced", "t2:stop");
    }
  }

  @Test
  void aReplacingTurnThatIsRefusedReplacesNothing() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"));
      h.control("limits", null, "max_queued_per_session=0");
      h.send(Events.message("s", "t3").replacing());
      h.control("limits", null, "max_queued_per_session=").control("drain", null, null);
      h.send(Events.message("s", "t4").replacing()).settle();
      assertThat(h.endings()).containsExactly("t3:rejected", "t4:rejected", "t1:stop", "t2:stop");
    }
  }

  @Test
  void aSessionsQueuedTextIsBounded() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      String large = "x".repeat(3 << 20);
      h.send(Events.message("s", "t1", large), Events.message("s", "t2", large));
      h.send(Events.message("s", "t3", "short"), Events.message("other", "t4", "short"));
      assertThat(h.endings()).containsExactly("t3:rejected");
      assertThat(h.reply("t3").error().message()).contains("4194304 characters");
      h.send(Events.message("s", "t5", "short").replacing(), Events.message("s", "t6")).settle();
      assertThat(h.reply("t5").finishReason()).isEqualTo("stop");
      assertThat(h.reply("t6").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void aTurnRefusedForWantOfRoomIsAnsweredOnceToo() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxQueuedPerSession = 1))) {
      h.send(Events.message("s", "t1").from(0, 1), Events.message("s", "t2").from(0, 2));
      h.send(Events.message("s", "t2").from(0, 2)).settle();
      assertThat(h.endings()).containsExactly("t2:rejected", "t1:stop");
      assertThat(h.reply("t2").error().message()).contains("another turn id");
      h.send(Events.message("s", "t2").from(0, 3), Events.message("s", "t3").from(0, 4)).settle();
      assertThat(h.endings()).containsExactly("t2:rejected", "t1:stop", "t3:stop");
    }
  }

  @Test
  void aTurnRefusedForGoodIsAnsweredOnce() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.MESSAGE, "s", "t1"), Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected");
    }
  }

  @Test
  void aTenantsAndATaskManagersQueuesAreBounded() throws Exception {
    ServingOptions options =
        Options.with(
            o -> {
              o.maxQueuedPerTenant = 1;
              o.maxQueuedPerTaskManager = 2;
            });
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("a", "t1").of("acme"), Events.message("b", "t2").of("acme"));
      h.send(Events.message("c", "t3").of("beta"), Events.message("d", "t4").of("gamma"));
      assertThat(h.endings()).containsExactly("t2:rejected", "t4:rejected");
      assertThat(h.reply("t2").error().message()).contains("tenant");
      assertThat(h.reply("t4").error().message()).contains("TaskManager");
    }
  }

  @Test
  void optionsOutOfRangeAreRejectedByName() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
          Events.message("s", "t1").with(Events.temperature(Double.NaN)),
          Events.message("s", "t2").with(Events.maxTokens(-1)),
          Events.of(EventKind.OPEN, "s2", "o").with(Events.temperature(-1)),
          Events.message("s", "t3"));
      h.settle();
      assertThat(h.reply("t1").error().message()).contains("temperature");
      assertThat(h.reply("t2").error().message()).contains("max_tokens");
      assertThat(h.reply("o").error().message()).contains("temperature");
      assertThat(h.reply("t3").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void refusedEventsWithoutATurnIdGoToTheSideOutput() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
          Events.message("s", null),
          Events.of(EventKind.QUERY, "s", null),
          Events.fork("s", null, "b", "t9").from(2, 7));
      h.settle();
      assertThat(h.replies()).isEmpty();
      assertThat(h.rejectedEvents())
          .extracting(RejectedEvent::reason)
          .satisfiesExactly(
              reason -> assertThat(reason).contains("turn id"),
              reason -> assertThat(reason).contains("turn id"),
              reason -> assertThat(reason).contains("no turn 't9'"));
      assertThat(h.rejectedEvents().get(2).event().origin()).isEqualTo(new Origin(2, 7, 0));
    }
  }

  @Test
  void aTurnWithoutAMessageOrWithAnUnknownRoleIsRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
              Events.of(EventKind.MESSAGE, "s", "t1"),
              Events.message("s", "t2").with(new Message("narrator", "Once")),
              Events.message("s", "t3"))
          .settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t2:rejected", "t3:stop");
      assertThat(h.reply("t2").error().message()).contains("chat template");
    }
  }

  @Test
  void everyTurnIdGetsExactlyOneReplyWhateverIsSent() throws Exception {
    ServingOptions options = Options.with(o -> o.maxQueuedPerSession = 4);
    try (ServingHarness h = ServingHarness.opened(options)) {
      Events[] events =
          Stream.of(EventKind.values())
              .flatMap(
                  kind ->
                      kind == EventKind.CANCEL
                          ? Stream.empty()
                          : Stream.of("main", "b")
                              .map(branch -> Events.of(kind, "s", kind + branch).on(branch)))
              .toArray(Events[]::new);
      h.send(Events.message("s", "t1")).send(events).send(events).settle();
      assertThat(h.replies()).extracting(Reply::turn).doesNotHaveDuplicates();
      assertThat(h.replies()).hasSize(events.length + 1);
    }
  }
}
