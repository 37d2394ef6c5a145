package io.radixflow.operators.flink.turn.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients that send their whole conversation with each turn. */
@Timeout(60)
public class HistoryMatchTest {
  private static final Message SYSTEM = new Message("system", "Be kind.");

  public static ConversationEvent whole(String turn, Message... conversation) {
    return whole(turn, List.of(conversation));
  }

  public static ConversationEvent whole(String turn, List<Message> conversation) {
    return ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
        .messages(conversation)
        .matchHistory(true)
        .build();
  }

  public static Message user(String text) {
    return new Message("user", text);
  }

  public static Message assistant(String text) {
    return new Message("assistant", text);
  }

  /** The reply to a turn, as a client has it. */
  private static Message said(ServingHarness h, String turn) {
    return assistant(h.reply(turn).text());
  }

  /** Messages of the prompt that a turn ran with. */
  public static List<Message> prompt(ServingHarness h, String turn) {
    String text =
        h.engine().submitted().stream()
            .filter(run -> run.label().equals("s/" + turn))
            .map(run -> TurnOrderTest.text(run.prompt()))
            .map(bytes -> new String(bytes.getBytes(ISO_8859_1), UTF_8))
            .reduce((first, last) -> last)
            .orElseThrow();
    List<Message> messages = new ArrayList<>();
    String[] parts = text.split("\\|");
    for (int i = 1; i < parts.length - 1; i += 2) {
      int line = parts[i].indexOf('\n');
      messages.add(new Message(parts[i].substring(0, line), parts[i].substring(line + 1)));
    }
    assertThat(parts[parts.length - 1]).isEqualTo("assistant\n");
    return messages;
  }

  /** The ids of the turns of a branch, oldest first. */
  public static List<String> turns(ServingHarness h, String branch) throws Exception {
    String query = "q" + h.replies().size();
    return h.send(Events.of(EventKind.QUERY, "s", query).on(branch)).reply(query).items().stream()
        .map(Reply.Item::turn)
        .filter(turn -> turn != null)
        .distinct()
        .toList();
  }

  @Test
  void whatIsNewIsAppendedToTheBranchThatEndsLikeTheConversation() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM, user("one"))).settle();
      h.send(whole("t2", SYSTEM, user("one"), said(h, "t1"), user("two"))).settle();
      h.send(whole("t3", SYSTEM, user("one"), said(h, "t1"), user("two"), said(h, "t2"), user("3")))
          .settle();
      assertThat(h.replies()).extracting(Reply::branch).containsOnly("main");
      assertThat(turns(h, "main")).containsExactly("t1", "t2", "t3");
      assertThat(prompt(h, "t3"))
          .containsExactly(
              SYSTEM, user("one"), said(h, "t1"), user("two"), said(h, "t2"), user("3"));
    }
  }

  @Test
  void whiteSpaceAroundAMessageAndLineEndsMakeNoDifference() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM, user("  one\r\nline \n"))).settle();
      Message reply = assistant("\n " + h.reply("t1").text() + "\u00a0 ");
      h.send(whole("t2", new Message("system", "Be kind.\n"), user("one\nline"), reply, user("2")))
          .settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(prompt(h, "t2").get(1))
          .as("as it was said first")
          .isEqualTo(user("  one\r\nline \n"));
    }
  }

  @Test
  void anEditedConversationForksWhereItWasEdited() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one"))).settle();
      h.send(whole("t2", user("one"), said(h, "t1"), user("two"))).settle();
      h.send(whole("t3", user("one"), said(h, "t1"), user("other"))).settle();
      h.send(whole("t4", user("one"), assistant("never said"), user("two"))).settle();
      assertThat(turns(h, "t3")).containsExactly("t1", "t3");
      assertThat(turns(h, "t4")).containsExactly("t4");
      assertThat(prompt(h, "t4"))
          .containsExactly(user("one"), assistant("never said"), user("two"));
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
    }
  }

  @Test
  void theSameConversationAgainGetsAReplyOfItsOwn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM, user("one"))).send(whole("t2", SYSTEM, user("one")));
      assertThat(h.engine().running()).isEqualTo(2);
      h.settle();
      assertThat(h.replies()).extracting(Reply::branch).containsExactly("main", "t2");
      assertThat(prompt(h, "t2")).isEqualTo(prompt(h, "t1"));
      h.send(whole("t3", SYSTEM, user("one"), said(h, "t2"), user("two"))).settle();
      assertThat(turns(h, h.reply("t3").branch())).hasSize(2).last().isEqualTo("t3");
    }
  }

  @Test
  void anotherSystemPromptBeginsABranchThatHasIt() throws Exception {
    Message other = new Message("system", "Be brief.");
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM, user("one"))).settle();
      h.send(whole("t2", other, user("one"))).settle();
      h.send(whole("t3", user("one"))).settle();
      h.send(whole("t4", other, user("one"), said(h, "t2"), user("two"))).settle();
      h.send(whole("t5", other, user("else"))).settle();
      assertThat(prompt(h, "t2")).containsExactly(other, user("one"));
      assertThat(prompt(h, "t3")).containsExactly(user("one"));
      assertThat(prompt(h, "t4")).containsExactly(other, user("one"), said(h, "t2"), user("two"));
      assertThat(turns(h, "t2")).containsExactly("t2", "t4");
      assertThat(prompt(h, "t5")).containsExactly(other, user("else"));
      Reply query = h.send(Events.of(EventKind.QUERY, "s", "q").on("t2")).reply("q");
      assertThat(query.items().get(0).content()).isEqualTo("Be brief.");
    }
  }

  @Test
  void aFirstTurnByIdMayHaveASystemPromptOfItsOwn() throws Exception {
    Message other = new Message("system", "Be brief.");
    try (ServingHarness h = ServingHarness.opened()) {
      for (Message system : List.of(SYSTEM, SYSTEM, other)) {
        h.send(
            ConversationEvent.builder(EventKind.MESSAGE, "s", "t" + h.replies().size())
                .messages(List.of(system, user("one")))
                .previousTurn("")
                .build());
        h.settle();
      }
      assertThat(prompt(h, "t0")).containsExactly(SYSTEM, user("one"));
      assertThat(prompt(h, "t1")).containsExactly(SYSTEM, user("one"));
      assertThat(prompt(h, "t2")).containsExactly(other, user("one"));
    }
  }

  @Test
  void aClientThatWasCutOffWhileItsTurnRunsForksBeforeThatTurn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one"))).generate(4);
      String seen = h.streamed("t1").substring(0, 2);
      h.send(whole("t2", user("one"), assistant(seen), user("go on")));
      assertThat(h.engine().running()).isEqualTo(2);
      h.settle();
      assertThat(prompt(h, "t2")).containsExactly(user("one"), assistant(seen), user("go on"));
      assertThat(h.reply("t1").text()).hasSize(6);
    }
  }

  @Test
  void aCancelledReplyMatchesByTheTextItHas() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one"))).generate(3);
      h.send(Events.of(EventKind.CANCEL, "s", "t1"));
      h.send(whole("t2", user("one"), said(h, "t1"), user("two"))).settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(prompt(h, "t2")).containsExactly(user("one"), said(h, "t1"), user("two"));
    }
  }

  @Test
  void aReplyThatIsMadeAgainAfterAFailureIsWaitedFor() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one"))).generate(3);
      OperatorSubtaskState state = h.snapshot();
      h.settle();
      ScriptedEngine engine = new ScriptedEngine(4096, 6);
      try (ServingHarness after =
          ServingHarness.of(engine, ServingOptions.DEFAULT).restore(state, 1)) {
        after.generate(1);
        after.send(whole("t2", user("one"), said(h, "t1"), user("two")));
        after.send(
            ConversationEvent.builder(EventKind.MESSAGE, "s", "t3")
                .messages(List.of(user("three")))
                .previousTurn("t2")
                .build());
        assertThat(engine.running()).isEqualTo(1);
        after.settle();
        assertThat(turns(after, "t2")).containsExactly("t1", "t2", "t3");
        assertThat(prompt(after, "t2")).containsExactly(user("one"), said(h, "t1"), user("two"));
      }
    }
  }

  @Test
  void aTurnThatWaitedInVainForksWhereItsConversationDiffers() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one")));
      h.send(whole("t2", user("one"), assistant("not what it will say"), user("two")));
      assertThat(h.engine().running()).isEqualTo(1);
      h.settle();
      assertThat(turns(h, "t2")).containsExactly("t2");
      assertThat(prompt(h, "t2"))
          .containsExactly(user("one"), assistant("not what it will say"), user("two"));
    }
  }

  @Test
  void aTurnThatWaitsForOneThatIsCancelledRunsWithoutIt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM, user("one")));
      h.send(whole("t2", SYSTEM, user("one"), assistant("abc"), user("two")));
      h.send(Events.of(EventKind.CANCEL, "s", "t1")).settle();
      assertThat(h.endings()).containsExactly("t1:cancelled", "t2:stop");
      assertThat(prompt(h, "t2"))
          .containsExactly(SYSTEM, user("one"), assistant("abc"), user("two"));
    }
  }

  @Test
  void aTurnThatWaitsToBeDecidedCanBeCancelledAndReplaysAfterARestore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", user("one")));
      h.send(whole("t2", user("one"), assistant("abc"), user("two")));
      h.send(whole("t3", user("one"), assistant("abd"), user("two")));
      h.send(Events.of(EventKind.CANCEL, "s", "t2"));
      assertThat(h.endings()).containsExactly("t2:cancelled");
      OperatorSubtaskState state = h.snapshot();
      try (ServingHarness after =
          ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
              .restore(state, 1)) {
        after.settle();
        assertThat(after.endings()).containsExactly("t1:stop", "t3:stop");
        assertThat(turns(after, "t3")).containsExactly("t3");
      }
    }
  }

  @Test
  void anEmptyReplyIsPartOfTheConversation() throws Exception {
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(4096, 0), ServingOptions.DEFAULT)) {
      h.open();
      h.send(whole("t1", user("one"))).settle();
      assertThat(h.reply("t1").text()).isEmpty();
      h.send(whole("t2", user("one"), assistant(""), user("two"))).settle();
      h.send(whole("t3", user("one"), user("two"))).settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t2");
      assertThat(turns(h, "t3")).containsExactly("t3");
    }
  }

  @Test
  void aConversationOfOnlyASystemPromptIsServed() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(whole("t1", SYSTEM)).settle();
      h.send(whole("t2", SYSTEM, said(h, "t1"), user("one"))).settle();
      h.send(whole("t3", SYSTEM)).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop", "t3:stop");
      assertThat(h.reply("t3").text()).isEqualTo(h.reply("t1").text());
    }
  }

  /** Few turns are read at once, and of many each is looked up. */
  @ParameterizedTest
  @CsvSource({"false, 3", "true, 3", "true, 70"})
  void aLongConversationThatWasRewrittenForksWhereItIsKnown(boolean rocksDb, int turns)
      throws Exception {
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(40_000, 6), ServingOptions.DEFAULT)
            .setBackend(rocksDb)) {
      h.open();
      List<Message> said = new ArrayList<>(List.of(SYSTEM));
      for (int i = 0; i < turns; i++) {
        said.add(user("u" + i));
        h.send(whole("t" + i, said)).settle();
        said.add(said(h, "t" + i));
      }
      List<Message> rewritten = new ArrayList<>(said.subList(0, 3));
      for (int i = 0; i < 50; i++) {
        rewritten.addAll(List.of(user("other " + i), assistant("never said")));
      }
      rewritten.add(user("last"));
      h.send(whole("far", rewritten)).settle();
      assertThat(turns(h, "far")).containsExactly("t0", "far");

      rewritten.set(1, user("unknown"));
      h.send(whole("root", rewritten)).settle();
      assertThat(turns(h, "root")).containsExactly("root");
      assertThat(prompt(h, "root")).isEqualTo(rewritten);
      assertThat(turns(h, "main")).hasSize(turns);
    }
  }

  @Test
  void ofTwoTurnsThatSaidTheSameTheOtherIsFoundOnceOneIsDropped() throws Exception {
    try (ServingHarness h = ServingHarness.opened(Options.with(o -> o.maxBranches = 2))) {
      h.send(whole("t1", user("one"))).send(whole("t2", user("one"))).settle();
      assertThat(h.reply("t1").text()).isEqualTo(h.reply("t2").text());
      h.send(whole("t3", user("else"))).settle();
      h.send(whole("t4", user("one"), said(h, "t1"), user("two"))).settle();
      assertThat(turns(h, "main")).containsExactly("t1", "t4");
    }
  }
}
