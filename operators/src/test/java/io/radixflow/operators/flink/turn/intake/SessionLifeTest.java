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
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.text.template.Message;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(180)
class SessionLifeTest {
  private static final Message SYSTEM = new Message("system", "Be brief.");

  private static Events open(String turn) {
    return Events.of(EventKind.OPEN, "s", turn).with(SYSTEM).with(Events.maxTokens(3));
  }

  private static Events close(String session, String turn) {
    return Events.of(EventKind.CLOSE, session, turn);
  }

  private static Events erase(String session, String turn) {
    return Events.of(EventKind.ERASE, session, turn);
  }

  private static Reply query(ServingHarness h, String session, String turn) throws Exception {
    return h.send(Events.of(EventKind.QUERY, session, turn)).reply(turn);
  }

  @Test
  void anOpenFixesSystemPromptAndDefaults() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(open("o"), Events.message("s", "t1")).settle();
      assertThat(h.endings()).containsExactly("o:stop", "t1:length");
      assertThat(TurnOrderTest.text(h.engine().submitted().get(0).prompt()))
          .startsWith("|system\nBe brief.|\n|user\ntext of t1|");
    }
  }

  @Test
  void anOpenWithTheSameParametersIsANoOpAndWithOthersRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(open("o1"), open("o2"), open("o3").with(new Message("system", "Be long.")));
      assertThat(h.endings()).containsExactly("o1:stop", "o2:stop", "o3:rejected");
      assertThat(h.reply("o3").error().message()).contains("other parameters");
    }
  }

  @Test
  void aFirstMessageOpensItsSessionAndMayBringTheSystemPrompt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(SYSTEM, new Message("user", "hi"))).settle();
      assertThat(query(h, "s", "q").items())
          .extracting(Reply.Item::role)
          .containsExactly("system", "user", "assistant");
    }
  }

  @Test
  void aMessageThatIsNotTakenOpensNoSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      Events first = Events.message("s", "t1").with(SYSTEM, new Message("user", "hi"));
      h.control("drain", null, null).send(first).control("drain", null, "off");
      h.send(Events.of(EventKind.CANCEL, "s", "t2").of("acme"))
          .send(Events.message("s", "t2").of("acme"));
      h.send(Events.message("s", "t3").with(SYSTEM, new Message("user", "hi")).of("beta")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t2:cancelled", "t3:stop");
      assertThat(h.send(Events.of(EventKind.QUERY, "s", "q").of("beta")).reply("q").items())
          .extracting(Reply.Item::role)
          .containsExactly("system", "user", "assistant");
    }
  }

  @Test
  void aRegenerateDoesNotOpenASession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.REGENERATE, "s", "r"), open("o").of("acme"));
      assertThat(h.endings()).containsExactly("r:rejected", "o:stop");
      assertThat(h.reply("r").error().message()).contains("no session 's'");
    }
  }

  @Test
  void aClosedSessionEndsItsTurnsAndTakesNoMore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2")).generate(2);
      h.send(close("s", "c"), Events.message("s", "t3"), open("o"), close("s", "c2")).settle();
      assertThat(h.endings())
          .containsExactly(
              "t1:cancelled", "t2:cancelled", "c:stop", "t3:rejected", "o:rejected", "c2:stop");
      assertThat(h.reply("t3").error().message()).contains("closed");
      assertThat(query(h, "s", "q").status()).isEqualTo("closed");
      assertThat(h.reply("q").items()).isEmpty();
    }
  }

  @Test
  void anErasedSessionLeavesOnlyAMarkThatItWasErased() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(Events.message("s", "t2").of("acme")).generate(2);
      h.send(erase("s", "e").of("acme"), Events.message("s", "t3")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:cancelled", "e:stop", "t3:rejected");
      assertThat(query(h, "s", "q").status()).isEqualTo("erased");
      assertThat(h.reply("q").items()).isEmpty();
    }
  }

  @Test
  void theEngineClosesEachSessionThatEnds() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("a", "t1"), Events.message("b", "t1").of("acme")).settle();
      h.send(Events.message("c", "t1"), Events.message("d", "t1")).settle();
      h.send(close("a", "c1"), close("a", "c2")).control("erase_tenant", "acme", null).runMails();
      h.send(erase("c", "e"));
      assertThat(h.engine().closedSessions()).containsExactly("a", "b", "c");
      h.setProcessingTime(25_000);
      assertThat(h.engine().closedSessions()).contains("d");
    }
  }

  @Test
  void theSavedProgressOfATurnIsDeletedWhenTheTurnEnds() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("s", "t1"), Events.message("c", "t1")).generate(2).snapshot();
      h.send(Events.of(EventKind.CANCEL, "c", "t1")).settle();
      h.setProcessingTime(25_000);
      assertThat(h.numKeyedStateEntries()).isZero();
    }
  }

  @Test
  void aSessionIsForgottenWhenItHasBeenIdleForItsRetention() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("s", "t1")).settle();
      h.setProcessingTime(9_000);
      h.send(Events.message("s", "t2")).settle();
      h.setProcessingTime(15_000);
      assertThat(query(h, "s", "q1").items()).hasSize(4);
      h.setProcessingTime(25_000);
      assertThat(h.numKeyedStateEntries()).isZero();
      assertThat(h.numProcessingTimeTimers()).isZero();
      assertThat(query(h, "s", "q2").status()).isEqualTo("unknown");
    }
  }

  @Test
  void aSessionWithARunningTurnIsNotForgotten() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(Events.message("s", "t1")).generate(1);
      h.setProcessingTime(60_000);
      h.settle();
      assertThat(h.endings()).containsExactly("t1:stop");
    }
  }

  @Test
  void aQueryReportsTheStateOfTheSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      assertThat(query(h, "s", "q1").status()).isEqualTo("unknown");
      h.send(Events.message("s", "t1")).generate(1);
      assertThat(query(h, "s", "q2").status()).isEqualTo("hot");
      h.settle();
      Reply reply = query(h, "s", "q3");
      assertThat(reply.status()).isEqualTo("warm");
      assertThat(reply.items())
          .containsExactly(
              new Reply.Item("t1", "user", "text of t1"),
              new Reply.Item(
                  "t1", new Message("assistant", h.reply("t1").text()), "stop", null, null));
    }
  }

  @Test
  void aSessionRestoredOnAnotherEngineIsGoneUntilItsNextTurn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1")).settle();
      var state = h.snapshot();
      try (ServingHarness next =
          ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)) {
        next.restore(state, 1);
        assertThat(query(next, "s", "q1").status()).isEqualTo("gone");
        next.send(Events.message("s", "t2")).settle();
        assertThat(query(next, "s", "q2").status()).isEqualTo("warm");
      }
    }
  }

  @Test
  void anotherTenantsEventsAreRejected() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme").salted("x")).settle();
      h.send(
              Events.message("s", "t2").of("evil"),
              Events.message("s", "t3").of("acme").salted("y"),
              Events.of(EventKind.QUERY, "s", "t4").of("evil"),
              Events.of(EventKind.CANCEL, "s", "t5").of("evil"),
              Events.message("s", "t6"),
              Events.message("s", "t7").of("acme"))
          .settle();
      assertThat(h.endings())
          .containsExactly(
              "t1:stop", "t2:rejected", "t3:rejected", "t4:rejected", "t6:rejected", "t7:stop");
      assertThat(List.of("t2", "t4", "t6"))
          .allSatisfy(t -> assertThat(h.reply(t).error().code()).isEqualTo(ErrorCode.WRONG_TENANT));
      assertThat(h.reply("t3").error().code()).isEqualTo(ErrorCode.INVALID_REQUEST);
      assertThat(h.rejectedEvents())
          .singleElement()
          .satisfies(r -> assertThat(r.reason()).contains("another tenant"));
    }
  }

  @ParameterizedTest
  @EnumSource(EventKind.class)
  void anEventOfAnotherTenantChangesNothing(EventKind kind) throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(Events.message("s", "t2").of("acme"));
      h.send(Events.of(kind, "s", "t3").with(e -> e.newBranch("b").atTurn("t1")));
      h.send(Events.of(kind, "s", "t3").of("evil").with(e -> e.newBranch("b").atTurn("t1")));
      h.send(Events.of(kind, "s", "t2").of("evil"));
      h.send(Events.message("s", "t3").of("acme")).settle();
      assertThat(h.endings())
          .filteredOn(end -> !end.endsWith(":rejected"))
          .containsExactly("t1:stop", "t2:stop", "t3:stop");
      assertThat(h.endings())
          .filteredOn(end -> end.endsWith(":rejected"))
          .isEqualTo(kind == EventKind.CANCEL ? List.of() : List.of("t3:rejected", "t3:rejected"));
      assertThat(h.replies())
          .filteredOn(reply -> reply.error() != null)
          .allSatisfy(
              reply ->
                  assertThat(reply.error())
                      .isEqualTo(
                          new ReplyError(
                              ErrorCode.WRONG_TENANT, "the session belongs to another tenant")));
      h.send(Events.fork("s", "f", "b", null).of("acme")).settle();
      assertThat(h.reply("f").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void anInvalidEventOfAnotherTenantIsRefusedAsInvalidAndLeavesItsTurnId() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(Events.of(null, "s", "t2").of("evil").with(e -> e.error("seed is a string")));
      assertThat(h.reply("t2").error()).isEqualTo(ReplyError.invalid("seed is a string"));
      h.send(Events.message("s", "t2").of("acme")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:rejected", "t2:stop");
    }
  }

  @Test
  void aCancelBeforeItsSessionIsOpenEndsATurnOfTheSameTenantOnly() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.CANCEL, "a", "t1").of("evil"));
      h.send(Events.message("a", "t1").of("acme")).settle();
      h.send(Events.of(EventKind.CANCEL, "b", "t2").of("acme"));
      h.send(Events.message("b", "t2").of("acme")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:cancelled");
    }
  }

  @Test
  void aTurnIdThatAnotherTenantUsedBeforeTheSessionWasOpenIsFree() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.REGENERATE, "s", "t1").of("evil"));
      h.send(Events.message("s", "t1").of("acme")).settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t1:stop");
    }
  }

  @Test
  void aClosedSessionStaysItsTenants() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").of("acme")).settle();
      h.send(Events.of(EventKind.CLOSE, "s", "c").of("acme"));
      h.send(Events.message("s", "t2").of("evil"), Events.message("s", "t3").of("acme"));
      assertThat(h.reply("t2").error().code()).isEqualTo(ErrorCode.WRONG_TENANT);
      assertThat(h.reply("t3").error().code()).isEqualTo(ErrorCode.SESSION_ENDED);
    }
  }
}
