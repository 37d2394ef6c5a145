package io.radixflow.operators.flink.turn.run;

import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.prompt;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.turns;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.user;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Conversations with calls of tools, which a client made elsewhere. */
@Timeout(120)
class ToolMessagesTest {
  private static final Message CALLS = calls("{\"at\": \"Ulm\", \"unit\": \"C\"}");
  private static final Message RESULT = new Message("tool", "7", null, List.of(), "c1", null);

  private static Message calls(String arguments) {
    List<ToolCall> calls = List.of(new ToolCall("c1", "warmth", arguments));
    return new Message("assistant", null, null, calls, null, "I must ask.");
  }

  @Test
  void callsAndResultsThatWereAppendedAreInTheNextPromptAndInQueries() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
              Events.of(EventKind.APPEND, "s", "a").with(user("How warm?"), CALLS, RESULT),
              Events.message("s", "t", "And now?"))
          .settle();
      assertThat(prompt(h, "t"))
          .containsExactly(
              user("How warm?"),
              new Message(
                  "assistant",
                  "<tool_call>\n{\"name\":\"warmth\",\"arguments\":{\"at\":\"Ulm\",\"unit\":\"C\"}}\n"
                      + "</tool_call>"),
              new Message("tool", "7"),
              user("And now?"));
      Reply query = h.send(Events.of(EventKind.QUERY, "s", "q")).reply("q");
      assertThat(query.items())
          .extracting(Reply.Item::message)
          .startsWith(user("How warm?"), CALLS, RESULT, user("And now?"));
    }
  }

  @Test
  void callsMatchByTheirValuesWithoutTheReasoning() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.APPEND, "s", "a").with(user("How warm?"), CALLS)).settle();
      Message again =
          new Message(
              "assistant",
              "",
              null,
              List.of(new ToolCall("c1", "warmth", "{\"unit\":\"C\",\"at\":\"Ulm\"}")),
              null,
              null);
      h.send(whole("t", user("How warm?"), again, RESULT)).settle();
      assertThat(turns(h, "main")).containsExactly("a", "t");
    }
  }

  @Test
  void messagesThatDifferOnlyInTheirCallsOrInWhatTheyAnswerAreDifferent() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.APPEND, "s", "a").with(user("How warm?"), CALLS, RESULT)).settle();
      Message other = new Message("tool", "7", null, List.of(), "c2", null);
      h.send(whole("t1", user("How warm?"), calls("{\"at\":\"Bonn\"}"), RESULT, user("x")))
          .settle();
      h.send(whole("t2", user("How warm?"), CALLS, other, user("x"))).settle();
      h.send(whole("t3", user("How warm?"), CALLS, RESULT, user("x"))).settle();
      assertThat(List.of("t1", "t2", "t3"))
          .extracting(turn -> h.reply(turn).branch())
          .containsExactly("t1", "t2", "main");
    }
  }

  @Test
  void aDevelopersInstructionsAreASystemPrompt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", new Message("developer", "Be brief."), user("one"))).settle();
      Message said = new Message("assistant", h.reply("t1").text());
      h.send(whole("t2", new Message("system", "Be brief."), user("one"), said, user("two")))
          .settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(prompt(h, "t2")).startsWith(new Message("system", "Be brief."));
    }
  }
}
