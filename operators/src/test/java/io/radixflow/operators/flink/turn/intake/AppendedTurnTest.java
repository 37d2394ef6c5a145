package io.radixflow.operators.flink.turn.intake;

import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.assistant;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.prompt;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.turns;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.user;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages that are added to a conversation without a reply. */
@Timeout(120)
class AppendedTurnTest {

  private static Events append(String turn, Message... messages) {
    return Events.of(EventKind.APPEND, "s", turn).with(messages);
  }

  @Test
  void theNextPromptHasAppendedMessagesInTheirPlace() throws Exception {
    Message system = new Message("system", "Be kind.");
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(append("a1", system, user("zero"), assistant("nought"))).settle();
      assertThat(h.engine().submitted()).as("no reply is generated").isEmpty();
      Reply reply = h.reply("a1");
      assertThat(reply.finishReason()).isEqualTo("stop");
      assertThat(reply.text()).isEmpty();
      h.send(Events.message("s", "t1", "one")).settle();
      h.send(append("a2", user("two")), append("a3", user("three"))).settle();
      h.send(Events.message("s", "t2", "four")).settle();
      h.send(Events.message("s", "t3", "five")).settle();
      Message first = assistant(h.reply("t1").text());
      assertThat(prompt(h, "t1"))
          .containsExactly(system, user("zero"), assistant("nought"), user("one"));
      assertThat(prompt(h, "t2"))
          .containsExactly(
              system,
              user("zero"),
              assistant("nought"),
              user("one"),
              first,
              user("two"),
              user("three"),
              user("four"));
      assertThat(prompt(h, "t3"))
          .startsWith(prompt(h, "t2").toArray(Message[]::new))
          .endsWith(assistant(h.reply("t2").text()), user("five"));
    }
  }

  @Test
  void aPromptAfterAppendedMessagesExtendsTheOneBefore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), append("a", user("more")), Events.message("s", "t2"))
          .settle();
      List<ScriptedEngine.Submitted> runs = h.engine().submitted();
      assertThat(TurnOrderTest.text(runs.get(1).prompt()))
          .startsWith(TurnOrderTest.text(runs.get(0).prompt()) + h.reply("t1").text() + "|\n");
    }
  }

  @Test
  void anAppendWaitsForTheTurnsBeforeItAndIsShownByQueries() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), append("a", user("more"))).generate(2);
      assertThat(h.replies()).isEmpty();
      h.settle();
      assertThat(h.endings()).containsExactly("t1:stop", "a:stop");
      Reply query = h.send(Events.of(EventKind.QUERY, "s", "q")).reply("q");
      assertThat(query.items())
          .extracting(Reply.Item::role, Reply.Item::content)
          .containsExactly(
              tuple("user", "text of t1"),
              tuple("assistant", h.reply("t1").text()),
              tuple("user", "more"));
    }
  }

  @Test
  void aQueryOfAnAppendedTurnShowsItsMessagesAndMetadata() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(append("a", user("more")).with(e -> e.metadata(Map.of("item", "1")))).settle();
      Reply.TurnState turn =
          h.send(Events.of(EventKind.QUERY, "s", "q").at("a")).reply("q").turnState();
      assertThat(turn.status()).isEqualTo("done");
      assertThat(turn.messages()).containsExactly(user("more"));
      assertThat(turn.text()).isEmpty();
      assertThat(turn.finishReason()).isEqualTo("stop");
      assertThat(turn.metadata()).containsEntry("item", "1");
    }
  }

  @Test
  void anAppendMayFollowATurnAndBeFollowed() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(append("a", user("zero")).with(e -> e.previousTurn("")))
          .send(Events.message("s", "t1").with(e -> e.previousTurn("a")))
          .send(append("b", user("other")).with(e -> e.previousTurn("a")))
          .send(Events.message("s", "t2").with(e -> e.previousTurn("b")))
          .settle();
      assertThat(turns(h, "main")).containsExactly("a", "t1");
      assertThat(turns(h, "b")).containsExactly("a", "b", "t2");
      assertThat(prompt(h, "t2")).containsExactly(user("zero"), user("other"), user("text of t2"));
    }
  }

  @Test
  void aWholeConversationMatchesWithAppendedMessages() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(append("a", user("zero"), assistant("nought"))).settle();
      h.send(whole("t1", user("zero"), assistant("nought"), user("one"))).settle();
      assertThat(turns(h, "main")).containsExactly("a", "t1");
    }
  }

  @Test
  void anAppendedTurnHasNoReplyToMakeAgain() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(append("a", user("zero")), Events.of(EventKind.REGENERATE, "s", "r")).settle();
      assertThat(h.reply("r").error().message()).contains("has no reply to make again");
    }
  }

  @Test
  void appendedMessagesAreInTheCheckpoint() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), append("a", user("more")), append("b", user("again")))
          .generate(2);
      var state = h.snapshot();
      ScriptedEngine engine = new ScriptedEngine(4096, 6);
      try (ServingHarness after =
          ServingHarness.of(engine, ServingOptions.DEFAULT).restore(state, 1)) {
        after.settle();
        var done = after.snapshot();
        try (ServingHarness last =
            ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
                .restore(done, 1)) {
          last.send(Events.message("s", "t2")).settle();
          assertThat(prompt(last, "t2"))
              .containsExactly(
                  user("text of t1"),
                  assistant(after.reply("t1").text()),
                  user("more"),
                  user("again"),
                  user("text of t2"));
        }
      }
    }
  }
}
