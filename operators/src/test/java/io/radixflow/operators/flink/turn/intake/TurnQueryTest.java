package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queries that ask about one turn: what they show of it while it waits, runs and has ended. */
class TurnQueryTest {
  private static final Map<String, String> METADATA = Map.of("topic", "rivers");

  private static Events query(String turn, String of) {
    return Events.of(EventKind.QUERY, "s", turn).at(of);
  }

  private static Events message(String turn) {
    return Events.message("s", turn).with(e -> e.metadata(METADATA));
  }

  /** Asks about a turn; the answer is in a delta and in the reply. */
  private static Reply.TurnState state(ServingHarness h, String turn) throws Exception {
    String id = "about-" + turn + "-" + h.replies().size();
    h.send(query(id, turn));
    Reply reply = h.reply(id);
    assertThat(h.deltas()).last().extracting(ReplyDelta::answer).isEqualTo(reply);
    assertThat(reply.items()).isNull();
    return reply.turnState();
  }

  @Test
  void aTurnIsShownWhileItWaitsRunsAndIsDone() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.setProcessingTime(5_000);
      h.send(message("t1"), message("t2")).generate(2);
      List<Message> messages = List.of(new Message("user", "text of t2"));
      assertThat(state(h, "t1").status()).isEqualTo("running");
      assertThat(state(h, "t1").previousTurn()).isEmpty();
      assertThat(state(h, "t2"))
          .isEqualTo(
              new Reply.TurnState(
                  "t2", "queued", "main", "t1", 5_000, 0, METADATA, messages, "", null, null, null,
                  null, null));
      h.settle();
      Reply done = h.reply("t2");
      assertThat(state(h, "t2"))
          .isEqualTo(
              new Reply.TurnState(
                  "t2",
                  "done",
                  "main",
                  "t1",
                  5_000,
                  done.created(),
                  METADATA,
                  messages,
                  done.text(),
                  null,
                  "stop",
                  null,
                  done.usage(),
                  null));
    }
  }

  @Test
  void theStopTextThatEndedAReplyIsShown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.setProcessingTime(5_000);
      GenerationOptions stop = GenerationOptions.builder().stop(List.of("END")).build();
      h.send(message("t1").with(stop)).settle();
      assertThat(h.reply("t1").stopReason()).isEqualTo("END");
      assertThat(state(h, "t1").stopReason()).isEqualTo("END");
      assertThat(h.deltas())
          .filteredOn(delta -> delta.turn().equals("t1") && delta.finishReason() != null)
          .singleElement()
          .matches(last -> last.stopReason().equals("END") && last.completed() == 5_000);
    }
  }

  @Test
  void aTurnThatWasNotAcceptedIsShownIfItsSessionIsOpen() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t0").with(Events.maxTokens(-1)));
      assertThat(unknown(h, "t0")).isEqualTo(ErrorCode.UNKNOWN_SESSION);
      h.send(message("t1")).settle();
      h.setProcessingTime(5_000);
      h.send(message("t2").with(Events.maxTokens(-1)));
      assertThat(state(h, "t2"))
          .matches(state -> state.status().equals("done") && state.completed() == 5_000)
          .matches(state -> state.finishReason().equals("rejected"))
          .matches(state -> state.metadata().equals(METADATA));
      assertThat(state(h, "t2").error()).isEqualTo(h.reply("t2").error()).isNotNull();
      h.send(Events.of(EventKind.CANCEL, "s", "t3"), message("t3"));
      assertThat(state(h, "t3").finishReason()).isEqualTo("cancelled");
      h.send(message("t4").of("acme"));
      assertThat(unknown(h, "t4")).isEqualTo(ErrorCode.UNKNOWN_TURN);
      h.send(Events.of(EventKind.DELETE_TURN, "s", "d").at("t2"));
      assertThat(unknown(h, "t2")).isEqualTo(ErrorCode.UNKNOWN_TURN);
    }
  }

  @Test
  void theTextSoFarIsWhatTheDeltasHaveShown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"));
      for (int step = 0; step < 5; step++) {
        h.generate(1);
        assertThat(state(h, "t1").text()).isEqualTo(h.streamed("t1"));
      }
      h.settle();
      assertThat(state(h, "t1").text()).isEqualTo(h.streamed("t1")).isNotEmpty();
    }
  }

  @Test
  void afterARestoreTheTextSoFarIsThatOfTheCheckpointAlsoBeforeTheTurnGoesOn() throws Exception {
    OperatorSubtaskState state;
    String shown;
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxRunning = 2))) {
      h.setProcessingTime(1_000);
      h.send(Events.message("other", "first"));
      h.setProcessingTime(2_000);
      h.send(Events.message("s", "t1")).generate(3);
      state = h.snapshot();
      shown = h.streamed("t1");
      h.generate(1);
    }
    ServingOptions oneAtATime = Options.with(o -> o.maxRunning = 1);
    try (ServingHarness h = ServingHarness.of(new ScriptedEngine(4096, 6), oneAtATime)) {
      h.restore(state, 1);
      Reply.TurnState paused = state(h, "t1");
      assertThat(paused.status()).isEqualTo("running");
      assertThat(paused.text()).isNotEmpty();
      assertThat(shown).contains(paused.text());
      h.send(Events.of(EventKind.CANCEL, "other", "first")).generate(1);
      String resumed = state(h, "t1").text();
      assertThat(resumed).startsWith(paused.text()).hasSizeGreaterThan(paused.text().length());
      h.settle();
      assertThat(state(h, "t1").text()).startsWith(resumed);
    }
  }

  @Test
  void aTurnOfAnyBranchIsFoundWithTheTurnThatItFollows() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1")).settle();
      h.send(message("t2")).settle();
      h.send(message("t3").with(e -> e.previousTurn("t1")));
      assertThat(state(h, "t3").previousTurn()).isEqualTo("t1");
      h.send(message("t4").with(e -> e.previousTurn("t3")));
      assertThat(state(h, "t4").previousTurn()).isEqualTo("t3");
      h.settle();
      assertThat(state(h, "t4").previousTurn()).isEqualTo("t3");
      assertThat(state(h, "t4").branch()).isEqualTo("t3").isEqualTo(h.reply("t4").branch());
      assertThat(state(h, "t2").branch()).isEqualTo("main");
    }
  }

  @Test
  void aTurnWhoseReplyWasMadeAgainIsShownUnderBothIds() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1")).settle();
      h.send(Events.of(EventKind.REGENERATE, "s", "r1")).generate(1);
      assertThat(state(h, "r1").status()).isEqualTo("running");
      h.settle();
      assertThat(state(h, "r1").text()).isEqualTo(h.reply("r1").text());
      assertThat(state(h, "r1").messages()).isEqualTo(state(h, "t1").messages());
    }
  }

  @Test
  void theEndOfATurnThatTheHistoryDoesNotHaveIsShownToo() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1"), message("t2"), message("t3").replacing());
      assertThat(state(h, "t1").status()).isEqualTo("done");
      assertThat(state(h, "t1").finishReason()).isEqualTo("replaced");
      assertThat(state(h, "t2").finishReason()).isEqualTo("replaced");
      assertThat(state(h, "t2").metadata()).isEqualTo(METADATA);
      h.settle();
      h.send(Events.of(EventKind.REGENERATE, "s", "r1").at("nowhere")).settle();
      assertThat(state(h, "r1").finishReason()).isEqualTo("rejected");
      assertThat(state(h, "r1").error()).isEqualTo(h.reply("r1").error()).isNotNull();
      for (int i = 0; i < 20; i++) {
        h.setProcessingTime(10_000 + i);
        h.send(message("u" + i)).send(Events.of(EventKind.CANCEL, "s", "u" + i));
      }
      assertThat(state(h, "u19").finishReason()).isEqualTo("cancelled");
      assertThat(unknown(h, "t1")).isEqualTo(ErrorCode.UNKNOWN_TURN);
    }
  }

  private static ErrorCode unknown(ServingHarness h, String turn) throws Exception {
    String id = "about-" + turn + "-" + h.replies().size();
    h.send(query(id, turn));
    assertThat(h.reply(id).turnState()).isNull();
    return h.reply(id).error().code();
  }

  @Test
  void aTurnThatIsNotThereIsUnknownAndASessionThatIsNotThereToo() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      assertThat(unknown(h, "t1")).isEqualTo(ErrorCode.UNKNOWN_SESSION);
      h.send(message("t1"), Events.fork("s", "f", "b", null)).settle();
      assertThat(unknown(h, "t2")).isEqualTo(ErrorCode.UNKNOWN_TURN);
      assertThat(unknown(h, "f")).isEqualTo(ErrorCode.UNKNOWN_TURN);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"CLOSE", "ERASE"})
  void aTurnOfASessionThatHasEndedIsNotShown(EventKind end) throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1")).settle();
      h.send(message("t2")).send(Events.of(EventKind.CANCEL, "s", "t2"));
      h.send(Events.of(end, "s", "e"));
      assertThat(unknown(h, "t1")).isEqualTo(ErrorCode.SESSION_ENDED);
      assertThat(unknown(h, "t2")).isEqualTo(ErrorCode.SESSION_ENDED);
    }
  }

  @Test
  void aTurnOfAnotherTenantIsNotShown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1").of("acme")).settle();
      assertThat(unknown(h, "t1")).isEqualTo(ErrorCode.WRONG_TENANT);
      assertThat(unknown(h, "t2")).isEqualTo(ErrorCode.WRONG_TENANT);
    }
  }

  @Test
  void metadataIsInTheReplyAndInTheHistory() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("t1"), Events.message("s", "t2")).settle();
      assertThat(h.reply("t1").metadata()).isEqualTo(METADATA);
      assertThat(h.reply("t2").metadata()).isNull();
      h.send(Events.of(EventKind.QUERY, "s", "q"));
      assertThat(h.reply("q").items())
          .extracting(Reply.Item::metadata)
          .containsExactly(null, METADATA, null, null);
      assertThat(TurnOrderTest.text(h.engine().submitted().get(1).prompt()))
          .doesNotContain("rivers");
      h.send(message("t3").with(Events.maxTokens(-1)));
      assertThat(h.reply("t3").metadata()).isEqualTo(METADATA);
    }
  }
}
