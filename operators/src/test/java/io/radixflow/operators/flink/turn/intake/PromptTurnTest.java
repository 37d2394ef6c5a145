package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns whose prompt is a text as it is. */
class PromptTurnTest {
  private static Events prompt(String turn, String text) {
    return new Events(ConversationEvent.prompt("s", turn, text).build());
  }

  private static List<String> prompts(ServingHarness h) {
    return h.engine().submitted().stream()
        .map(request -> TurnOrderTest.text(request.prompt()))
        .toList();
  }

  @Test
  void aPromptIsTokenisedAsItIsAndFollowsNothing() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt("t1", "Once upon"), prompt("t2", "<|im_start|>user")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:stop");
      assertThat(prompts(h)).containsExactly("Once upon", "|user");
      assertThat(h.reply("t2").usage().promptTokens()).isEqualTo(5);
      assertThat(h.turnsKept("s")).isEqualTo(1);
      h.send(Events.of(EventKind.QUERY, "s", "q"));
      assertThat(h.reply("q").items())
          .containsExactly(
              new Reply.Item("t2", Message.PROMPT, "<|im_start|>user"),
              new Reply.Item(
                  "t2", new Message("assistant", h.reply("t2").text()), "stop", null, null));
    }
  }

  @Test
  void tokensOfPromptAndReplyAreShownIfAsked() throws Exception {
    TokenOptions shown =
        new TokenOptions(null, null, null, null, null, null, null, null, null, true, true, null);
    GenerationOptions options = GenerationOptions.builder().tokens(shown).build();
    Message ids = Message.ofIds(List.of((int) 'O', 0xc3, 0xa9));
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(new Events(ConversationEvent.prompt("s", "t1", ids).build()).with(options))
          .send(prompt("t2", "Once"))
          .settle();
      Reply reply = h.reply("t1");
      assertThat(reply.prompt())
          .isEqualTo(new PromptTokens(0, List.of((int) 'O', 0xc3, 0xa9), "O\u00e9", null));
      assertThat(reply.tokenIds()).hasSize(reply.usage().completionTokens());
      List<ReplyDelta> deltas =
          h.deltas().stream().filter(delta -> delta.turn().equals("t1")).toList();
      assertThat(deltas.get(0).prompt()).isEqualTo(reply.prompt());
      assertThat(deltas.stream().skip(1).map(ReplyDelta::prompt)).containsOnlyNulls();
      assertThat(
              deltas.stream()
                  .filter(delta -> delta.tokenIds() != null)
                  .flatMap(delta -> delta.tokenIds().stream()))
          .isEqualTo(reply.tokenIds());
      assertThat(h.reply("t2").prompt()).isNull();
      assertThat(h.reply("t2").tokenIds()).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EventKind.class,
      names = {"MESSAGE", "REGENERATE", "APPEND", "FORK"})
  void aSessionWithAPromptTakesNoOtherTurns(EventKind kind) throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt("t1", "Once upon"));
      Events other = Events.of(kind, "s", "t2").with(e -> e.newBranch("b"));
      h.send(kind == EventKind.REGENERATE ? other : other.with(new Message("user", "hi")));
      assertThat(h.reply("t2").error().code()).isEqualTo(ErrorCode.INVALID_REQUEST);
      assertThat(h.reply("t2").error().message()).contains("prompt");
      h.settle().send(Events.of(EventKind.PREFETCH, "s", "p"), prompt("t3", "a time")).settle();
      assertThat(h.endings()).containsExactly("t2:rejected", "t1:stop", "p:stop", "t3:stop");
      assertThat(h.engine().expected()).isEmpty();
    }
  }

  @Test
  void aConversationTakesNoPrompt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), prompt("t2", "Once")).settle();
      h.send(
              Events.of(EventKind.OPEN, "o", "o1").with(new Message("system", "Be brief")),
              new Events(ConversationEvent.prompt("o", "t3", "Once").build()),
              Events.of(EventKind.OPEN, "p", "o2").with(Events.maxTokens(2)),
              new Events(ConversationEvent.prompt("p", "t4", "Once").build()),
              prompt("t5", "Once").with(e -> e.previousTurn("t1")),
              prompt("t6", "Once").with(e -> e.matchHistory(true)))
          .settle();
      assertThat(h.endings())
          .contains("t2:rejected", "t3:rejected", "t4:length", "t5:rejected", "t6:rejected");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"required", "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}"})
  void aPromptWhoseReplyWouldHaveToCallIsRejected(String choice) throws Exception {
    GenerationOptions.Builder tools =
        GenerationOptions.builder()
            .tools("[{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]");
    GenerationOptions forced = tools.toolChoice(choice).build();
    GenerationOptions free = tools.toolChoice("auto").build();
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt("t1", "Once").with(forced), prompt("t2", "Once").with(free)).settle();
      h.send(Events.of(EventKind.OPEN, "o", "o1").with(forced))
          .send(ConversationEvent.prompt("o", "t3", "Once").build())
          .settle();
      assertThat(h.endings()).containsExactly("t1:rejected", "t2:stop", "o1:stop", "t3:rejected");
      assertThat(h.reply("t1").error().message()).contains("tool_choice");
      assertThat(h.reply("t3").error()).isEqualTo(h.reply("t1").error());
    }
  }

  @Test
  void aPromptGoesOnAfterARestoreAndIsKnownAsOne() throws Exception {
    OperatorSubtaskState state;
    Reply undisturbed;
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt("t1", "Once upon")).generate(3);
      state = h.snapshot();
      undisturbed = h.settle().reply("t1");
    }
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)) {
      h.restore(state, 1).send(Events.message("s", "t2")).settle();
      assertThat(h.reply("t1").text()).isEqualTo(undisturbed.text());
      assertThat(h.reply("t2").error().message()).contains("prompt");
    }
  }

  @Test
  void aPromptThatIsTooLongIsRejected() throws Exception {
    try (ServingHarness h = ServingHarness.of(new ScriptedEngine(64, 6), ServingOptions.DEFAULT)) {
      h.open();
      h.send(prompt("t1", "x".repeat(64)), prompt("t2", "x".repeat(20))).settle();
      assertThat(h.reply("t1").error().code()).isEqualTo(ErrorCode.CONTEXT_LENGTH_EXCEEDED);
      assertThat(h.reply("t1").error().promptTokens()).isEqualTo(64);
      assertThat(h.reply("t1").error().contextWindow()).isEqualTo(64);
      assertThat(h.reply("t2").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void theFirstDeltaHasTheCountsOfThePromptThatTheReplyHas() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt("t1", "Once upon a time")).generate(1);
      h.send(Events.of(EventKind.QUERY, "s", "q").at("t1"));
      assertThat(h.reply("q").turnState().usage().promptTokens())
          .as("of a turn that runs")
          .isEqualTo(16);
      h.settle();
      List<Usage> counts =
          h.deltas().stream()
              .filter(delta -> delta.turn().equals("t1"))
              .map(ReplyDelta::usage)
              .toList();
      Usage whole = h.reply("t1").usage();
      assertThat(counts).hasSizeGreaterThan(2);
      assertThat(counts.get(0).promptTokens()).isEqualTo(whole.promptTokens());
      assertThat(counts.get(0).cachedTokens()).isEqualTo(whole.cachedTokens());
      assertThat(counts.subList(1, counts.size() - 1)).containsOnly(Usage.NONE);
      assertThat(counts.get(counts.size() - 1)).isEqualTo(whole);
    }
  }

  @Test
  void aPromptSharesNoPagesAsASystemPromptDoes() throws Exception {
    ServingOptions sharing =
        Options.with(
            o -> o.namespaces = new TenantNamespaces(NamespaceKey.of("key"), Set.of("acme")));
    try (ServingHarness h = ServingHarness.opened(sharing)) {
      h.send(prompt("t1", "Once upon").of("acme")).settle();
      assertThat(h.engine().submitted()).allMatch(request -> request.publicTokens() == 0);
      assertThat(h.endings()).containsExactly("t1:stop");
    }
  }
}
