package io.radixflow.operators.flink.turn.run;

import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.user;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns whose replies call tools, and what follows them. */
@Timeout(180)
class ToolLoopTest {
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"warmth\",\"parameters\":{}}}]";
  private static final String CALL = "call warmth {\"at\": \"Ulm\"}";

  private ServingEngine engine;

  @AfterEach
  void closeEngine() {
    engine.close();
  }

  private ServingHarness open() throws Exception {
    return open(EngineOptions.DEFAULT);
  }

  private ServingHarness open(EngineOptions options) throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withCalls(true));
    engine =
        new ServingEngine(
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, options), model);
    ServingHarness h =
        new ServingHarness(
            TestEngineFactory.of("tool-loop", () -> engine), ServingOptions.DEFAULT, 1, 0);
    h.open();
    return h;
  }

  private static GenerationOptions.Builder tools() {
    return GenerationOptions.builder().temperature(0.0).maxTokens(200).tools(TOOLS);
  }

  private static Reply run(ServingHarness h, ConversationEvent event) throws Exception {
    int before = h.replies().size();
    h.send(event);
    while (h.replies().size() == before) {
      h.awaitMail();
    }
    return h.reply(event.turn());
  }

  private static ConversationEvent ask(String turn, GenerationOptions options, Message... added) {
    return ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
        .messages(List.of(added))
        .options(options)
        .build();
  }

  private static Message result(Reply call, String text) {
    ToolCall first = call.toolCalls().get(0);
    return new Message("tool", text, first.name(), List.of(), first.id(), null);
  }

  @Test
  void aCallItsResultAndTheAnswerAreOneConversation() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user(CALL)));
      assertThat(call.finishReason()).isEqualTo("tool_calls");
      assertThat(call.text()).isEmpty();
      assertThat(call.toolCalls())
          .extracting(ToolCall::name, ToolCall::arguments)
          .containsExactly(tuple("warmth", "{\"at\": \"Ulm\"}"));
      assertThat(call.toolCalls().get(0).id()).matches("call_[0-9a-f]{24}");
      assertThat(h.deltas())
          .filteredOn(delta -> delta.kind() == ReplyDelta.Kind.TOOL_CALL)
          .extracting(ReplyDelta::text, ReplyDelta::index, ReplyDelta::id)
          .containsExactly(tuple("warmth", 0, call.toolCalls().get(0).id()));
      Reply answer = run(h, ask("t2", tools().build(), result(call, "7 degrees")));
      assertThat(answer.text()).isEqualTo("It is 7 degrees.");
      assertThat(answer.finishReason()).isEqualTo("stop");
      int first = call.usage().promptTokens() + call.usage().completionTokens();
      assertThat(answer.usage().cachedTokens())
          .as("the prompt extends the one before and its reply")
          .isGreaterThanOrEqualTo((first - 1) / 16 * 16);
    }
  }

  @Test
  void aNamedFunctionIsCalledExactlyOnce() throws Exception {
    try (ServingHarness h = open()) {
      String named = "{\"type\":\"function\",\"function\":{\"name\":\"warmth\"}}";
      for (int seed = 1; seed <= 3; seed++) {
        GenerationOptions options =
            tools().temperature(1.0).seed((long) seed).maxTokens(400).toolChoice(named).build();
        Reply reply = run(h, ask("t" + seed, options, user("hi")));
        assertThat(reply.toolCalls()).hasSize(1);
        assertThat(reply.text()).isEmpty();
        assertThat(reply.finishReason()).isEqualTo("tool_calls");
      }
    }
  }

  @Test
  void onlyAllowedToolsAreCalledAndThePromptHasAll() throws Exception {
    try (ServingHarness h = open()) {
      String both = TOOLS.replace("]", "," + TOOLS.substring(1).replace("warmth", "wind"));
      String allowed =
          "{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\",\"tools\":"
              + "[{\"type\":\"function\",\"function\":{\"name\":\"wind\"}}]}}";
      Reply all = run(h, ask("t1", tools().tools(both).maxTokens(1).build(), user("hi")));
      GenerationOptions.Builder some = tools().tools(both).temperature(1.0).maxTokens(300);
      Reply reply = run(h, ask("t2", some.toolChoice(allowed).build(), user(CALL)));
      assertThat(reply.toolCalls()).extracting(ToolCall::name).containsOnly("wind");
      assertThat(reply.usage().promptTokens()).isGreaterThan(all.usage().promptTokens());
      Reply auto =
          run(
              h,
              ask("t3", some.toolChoice(allowed.replace("required", "auto")).build(), user(CALL)));
      assertThat(auto.toolCalls()).extracting(ToolCall::name).doesNotContain("warmth");
      Reply unknown =
          run(h, ask("t4", some.toolChoice(allowed.replace("wind", "rain")).build(), user("hi")));
      assertThat(unknown.error().message()).contains("rain, which is not a tool");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\\\"at\\\": 1}", "{at: Ulm}", "[1, ?]", "{\"at\": 1,}"})
  void aCallWithBrokenArgumentsIsACallAndTheNextTurnFollowsIt(String arguments) throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user("call warmth " + arguments)));
      assertThat(call.finishReason()).isEqualTo("tool_calls");
      assertThat(call.text()).isEmpty();
      assertThat(call.toolCalls())
          .extracting(ToolCall::name, ToolCall::arguments)
          .containsExactly(tuple("warmth", arguments));
      Reply answer = run(h, ask("t2", tools().build(), result(call, "no JSON")));
      assertThat(answer.finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void theSimulatedModelCallsAfterEachResultAsItsUserAsked() throws Exception {
    try (ServingHarness h = open()) {
      String script = CALL + "\nthen\ncall wind {}\ncall rain {}";
      Reply first = run(h, ask("t1", tools().build(), user(script)));
      assertThat(first.toolCalls()).extracting(ToolCall::name).containsExactly("warmth");
      Reply second = run(h, ask("t2", tools().build(), result(first, "5")));
      assertThat(second.toolCalls()).extracting(ToolCall::name).containsExactly("wind", "rain");
      Reply last = run(h, ask("t3", tools().build(), result(second, "7")));
      assertThat(last.text()).isEqualTo("It is 7.");
    }
  }

  @Test
  void aCallOfAToolThatIsNotThereIsACall() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user("call plan {\"a\": 1}")));
      assertThat(call.finishReason()).isEqualTo("tool_calls");
      assertThat(call.toolCalls()).extracting(ToolCall::name).containsExactly("plan");
    }
  }

  @Test
  void aLimitThatCutsACallBeforeItsArgumentsLeavesNoMarkup() throws Exception {
    try (ServingHarness h = open()) {
      for (int limit = 1; limit < 40; limit += 4) {
        Reply cut = run(h, ask("t" + limit, tools().maxTokens(limit).build(), user(CALL)));
        assertThat(cut.finishReason()).isEqualTo("length");
        assertThat(cut.text()).isEmpty();
      }
    }
  }

  @Test
  void theOrderOfTextAndCallsIsKeptWithTheTurn() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user(CALL)));
      assertThat(call.order()).isEmpty();
      String written = "<tool_call>{\"name\": \"warmth\", \"arguments\": {}}</tool_call> now";
      Reply reply = run(h, ask("t2", tools().build(), result(call, written)));
      assertThat(reply.toolCalls()).extracting(ToolCall::name).containsExactly("warmth");
      assertThat(reply.order())
          .extracting(PartLength::kind)
          .containsExactly(null, ReplyDelta.Kind.TOOL_CALL, ReplyDelta.Kind.ARGUMENTS, null);
      assertThat(reply.order()).extracting(PartLength::index).containsExactly(-1, 0, 0, -1);
      String first = reply.text().substring(0, reply.order().get(0).length());
      assertThat(first.strip()).isEqualTo("It is");
      assertThat(reply.text()).hasSize(first.length() + reply.order().get(3).length());
      Reply.TurnState state =
          run(h, ConversationEvent.builder(EventKind.QUERY, "s", "q").atTurn("t2").build())
              .turnState();
      assertThat(state.order()).isEqualTo(reply.order());
      assertThat(state.reply()).isEqualTo(reply.message());
      assertThat(state.options()).isEqualTo(tools().build());
      List<Reply.Item> items =
          run(h, ConversationEvent.builder(EventKind.QUERY, "s", "q2").build()).items();
      assertThat(items)
          .extracting(Reply.Item::order)
          .containsExactly(List.of(), List.of(), List.of(), reply.order());
    }
  }

  @Test
  void aTurnWithOtherToolsHasThemInItsPrompt() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user(CALL)));
      String others = TOOLS.replace("warmth", "distance");
      Reply other =
          run(h, ask("t2", tools().tools(others).build(), user("call distance {\"to\": 1}")));
      assertThat(other.toolCalls()).extracting(ToolCall::name).containsExactly("distance");
      assertThat(other.usage().cachedTokens())
          .as("tools come first in the prompt")
          .isLessThan(call.usage().promptTokens() / 2);
      Reply without = run(h, ask("t3", tools().tools("[]").build(), user(CALL)));
      assertThat(without.toolCalls()).isEmpty();
      assertThat(without.text()).startsWith("<tool_call>");
      Reply same = run(h, ask("t4", tools().tools("[]").build(), user("Hello")));
      assertThat(same.usage().cachedTokens()).isGreaterThan(without.usage().promptTokens() - 16);
    }
  }

  @Test
  void withChoiceNoneTheReplyIsText() throws Exception {
    try (ServingHarness h = open()) {
      Reply reply = run(h, ask("t1", tools().toolChoice("none").build(), user(CALL)));
      assertThat(reply.toolCalls()).isEmpty();
      assertThat(reply.text()).startsWith("<tool_call>");
      assertThat(reply.finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void aSessionMayHaveToolsForAllItsTurns() throws Exception {
    try (ServingHarness h = open()) {
      run(h, ConversationEvent.builder(EventKind.OPEN, "s", "o").options(tools().build()).build());
      Reply call = run(h, ask("t1", null, user(CALL)));
      assertThat(call.finishReason()).isEqualTo("tool_calls");
    }
  }

  @Test
  void aWholeConversationWithCallsGoesOnWhereItIs() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, whole("t1", user(CALL)).toBuilder().options(tools().build()).build());
      Message said = new Message("assistant", null, null, call.toolCalls(), null, null);
      ConversationEvent next =
          whole("t2", user(CALL), said, result(call, "7")).toBuilder()
              .options(tools().build())
              .build();
      Reply answer = run(h, next);
      assertThat(answer.branch()).isEqualTo("main");
      assertThat(answer.text()).isEqualTo("It is 7.");
    }
  }

  @Test
  void queriesShowCalls() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user(CALL)));
      Message said = new Message("assistant", null, null, call.toolCalls(), null, null);
      Reply all = run(h, Events.of(EventKind.QUERY, "s", "q1").event());
      assertThat(all.items()).extracting(Reply.Item::message).containsExactly(user(CALL), said);
      Reply one =
          run(h, ConversationEvent.builder(EventKind.QUERY, "s", "q2").atTurn("t1").build());
      assertThat(one.turnState().toolCalls()).isEqualTo(call.toolCalls());
      assertThat(one.turnState().finishReason()).isEqualTo("tool_calls");
    }
  }

  @Test
  void pagesAreKeptForTheResultsUntilTheSessionEnds() throws Exception {
    try (ServingHarness h = open()) {
      run(h, ask("t1", tools().build(), user(CALL)));
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() > 0);
      run(h, Events.of(EventKind.CLOSE, "s", "c").event());
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() == 0);
    }
  }

  @Test
  void pagesAreKeptForTheResultsUntilTheyCome() throws Exception {
    try (ServingHarness h = open()) {
      Reply call = run(h, ask("t1", tools().build(), user(CALL)));
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() > 0);
      Reply answer = run(h, ask("t2", tools().build(), result(call, "7 degrees")));
      assertThat(answer.toolCalls()).isEmpty();
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"t1", ""})
  void aCancelTakesBackThatPagesAreKeptForTheResults(String turn) throws Exception {
    try (ServingHarness h = open()) {
      run(h, ask("t1", tools().build(), user(CALL)));
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() > 0);
      h.send(Events.of(EventKind.CANCEL, "s", turn.isEmpty() ? null : turn));
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() == 0);
      assertThat(run(h, ask("t2", tools().build(), user("Hello"))).finishReason())
          .isEqualTo("stop");
    }
  }

  @Test
  void pagesAreKeptForAsLongAsTheSenderOfACallSays() throws Exception {
    try (ServingHarness h = open()) {
      CacheHints pin = new CacheHints(false, 3_600_000, List.of(), null);
      run(h, ask("t1", tools().build(), user(CALL)).toBuilder().cache(pin).build());
      await().atMost(Duration.ofSeconds(60)).until(() -> pinned() > 0);
      h.send(Events.of(EventKind.CANCEL, "s", "t1"));
      run(
          h,
          ConversationEvent.builder(EventKind.MESSAGE, "other", "t")
              .messages(List.of(user("Hello")))
              .options(tools().build())
              .build());
      assertThat(pinned()).isPositive();
    }
  }

  private int pinned() {
    return engine.engine().stats().sessions().pinnedPages();
  }

  @Test
  void aFormatThatIsNotThereIsRefusedByName() throws Exception {
    try (ServingHarness h = open()) {
      Reply reply = run(h, ask("t1", tools().toolParser("nowhere").build(), user(CALL)));
      assertThat(reply.finishReason()).isEqualTo("rejected");
      assertThat(reply.error().message()).contains("tool parser nowhere");
    }
  }

  @Test
  void aReplyThatIsCutWithinACallSaysLength() throws Exception {
    try (ServingHarness h = open()) {
      Reply reply = run(h, ask("t1", tools().maxTokens(50).build(), user(CALL)));
      assertThat(reply.finishReason()).isEqualTo("length");
      assertThat(reply.toolCalls()).extracting(ToolCall::name).containsExactly("warmth");
      assertThat("{\"at\": \"Ulm\"}").startsWith(reply.toolCalls().get(0).arguments());
      Reply next = run(h, ask("t2", tools().build(), user(CALL)));
      assertThat(next.finishReason()).isEqualTo("tool_calls");
    }
  }

  @Test
  void aReplyThatIsCancelledBeforeItsCallBeginsHasNoTextOfTheCall() throws Exception {
    // a mail brings four tokens at most, and the call opens after more than 40
    try (ServingHarness h = open(EngineOptions.builder().ringTokens(4).build())) {
      h.send(ask("t1", tools().build(), user(CALL)));
      for (int i = 0; i < 3; i++) {
        h.awaitMail();
      }
      h.send(ConversationEvent.builder(EventKind.CANCEL, "s", "t1").build());
      while (h.replies().isEmpty()) {
        h.awaitMail();
      }
      Reply reply = h.reply("t1");
      assertThat(reply.finishReason()).isEqualTo("cancelled");
      assertThat(reply.usage().completionTokens()).isPositive();
      assertThat(reply.text()).isEmpty();
      assertThat(h.deltas()).extracting(ReplyDelta::text).containsOnly("");
      Reply next = run(h, ask("t2", tools().build(), user(CALL)));
      assertThat(next.finishReason()).isEqualTo("tool_calls");
    }
  }

  private static final String STRICT =
      "[{\"type\":\"function\",\"function\":{\"name\":\"warmth\",\"strict\":true,"
          + "\"parameters\":{\"type\":\"object\",\"properties\":{\"at\":{\"enum\":[\"Ulm\",\"Aalen\"]}},"
          + "\"required\":[\"at\"],\"additionalProperties\":false}}},"
          + "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"parameters\":{\"type\":\"object\","
          + "\"properties\":{},\"additionalProperties\":false}}}]";
  private static final String WARMTH = "\\{\\s*\"at\"\\s*:\\s*\"(Ulm|Aalen)\"\\s*}";

  private static GenerationOptions.Builder sampled() {
    return GenerationOptions.builder().seed(3L).maxTokens(400).tools(STRICT);
  }

  @Test
  void aReplyThatMustCallCallsAndItsResultIsAnswered() throws Exception {
    try (ServingHarness h = open()) {
      for (int i = 0; i < 5; i++) {
        GenerationOptions must =
            sampled().seed((long) i).toolChoice("required").parallelToolCalls(false).build();
        Reply call = run(h, ask("t" + i, must, user("Hello")));
        assertThat(call.finishReason()).isEqualTo("tool_calls");
        assertThat(call.text()).isEmpty();
        assertThat(call.toolCalls()).hasSize(1);
        ToolCall first = call.toolCalls().get(0);
        assertThat(first.arguments()).matches(first.name().equals("warmth") ? WARMTH : "\\{\\s*}");
        Reply answer = run(h, ask("r" + i, tools().build(), result(call, "7 degrees")));
        assertThat(answer.toolCalls()).isEmpty();
      }
    }
  }

  @Test
  void aReplyCallsTheFunctionThatIsNamed() throws Exception {
    String named = "{\"type\":\"function\",\"function\":{\"name\":\"warmth\"}}";
    try (ServingHarness h = open()) {
      Reply call =
          run(h, ask("t1", sampled().toolChoice(named).stop(List.of("a")).build(), user("Hi")));
      assertThat(call.toolCalls()).isNotEmpty();
      assertThat(call.toolCalls())
          .allSatisfy(
              each -> {
                assertThat(each.name()).isEqualTo("warmth");
                assertThat(each.arguments()).matches(WARMTH);
              });
      Reply other =
          run(h, ask("t2", sampled().toolChoice(named.replace("warmth", "x")).build(), user("Hi")));
      assertThat(other.error().message()).contains("tool_choice names x, which is not a tool");
    }
  }

  @Test
  void strictCallsAreHeldToTheirSchemaAndOtherTextIsFree() throws Exception {
    try (ServingHarness h = open()) {
      String wish = "call warmth {\"at\": \"Rome\"}";
      Reply call = run(h, ask("t1", sampled().temperature(0.0).build(), user(wish)));
      assertThat(call.toolCalls()).isNotEmpty();
      assertThat(call.toolCalls().get(0).arguments()).matches(WARMTH);
      Reply free = run(h, ask("t2", sampled().build(), user("Tell me more.")));
      assertThat(free.toolCalls()).isEmpty();
      assertThat(free.text()).isNotEmpty();
    }
  }

  @Test
  void contentFollowsItsFormatWithAndWithoutTools() throws Exception {
    String format =
        "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"enum\":[[1],{\"a\":null}]}}}";
    try (ServingHarness h = open()) {
      GenerationOptions.Builder plain = GenerationOptions.builder().maxTokens(300);
      Reply json = run(h, ask("t1", plain.responseFormat(format).build(), user("Hi")));
      assertThat(json.text()).matches("\\[\\s*1\\s*]|\\{\\s*\"a\"\\s*:\\s*null\\s*}");
      assertThat(json.finishReason()).isEqualTo("stop");
      GenerationOptions both = tools().responseFormat(format).build();
      Reply call = run(h, ask("t2", both, user(CALL)));
      assertThat(call.finishReason()).isEqualTo("tool_calls");
      Reply choice =
          run(
              h,
              ask(
                  "t3",
                  GenerationOptions.builder()
                      .structuredOutputs("{\"choice\":[\"yes\",\"n\\u00f6\\n\\\"\",\"\\u0007\"]}")
                      .build(),
                  user("Hi")));
      assertThat(choice.text()).isIn("yes", "n\u00f6\n\"", "\u0007");
      Reply gbnf =
          run(
              h,
              ask(
                  "t4",
                  GenerationOptions.builder()
                      .structuredOutputs(
                          "{\"grammar\":\"root ::= [a-c] \\\"x\\\" | \\\"z\\\" root\"}")
                      .build(),
                  user("Hi")));
      assertThat(gbnf.text()).matches("z*[a-c]x");
    }
  }

  @Test
  void optionsThatDoNotGoTogetherAreRefusedByName() throws Exception {
    try (ServingHarness h = open()) {
      GenerationOptions.Builder none = GenerationOptions.builder();
      String regex = "{\"regex\":\"a+\"}";
      assertThat(refused(h, "t1", none.toolChoice("required").build()))
          .contains("tool_choice asks for a call, and there are no tools");
      assertThat(refused(h, "t2", tools().structuredOutputs(regex).build()))
          .contains("do not go together with tools");
      assertThat(
              refused(
                  h,
                  "t3",
                  GenerationOptions.builder().structuredOutputs(regex).ignoreEos(true).build()))
          .contains("ignore_eos is true");
      String not = "{\"json\":{\"not\":{\"multipleOf\":3}}}";
      assertThat(refused(h, "t4", GenerationOptions.builder().structuredOutputs(not).build()))
          .startsWith("structured_outputs: not is not supported where it reaches multipleOf");
      String format = "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":%s}}";
      for (String schema :
          List.of(
              "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}",
              "{\"type\":\"string\",\"pattern\":\"(a)\\\\1\"}")) {
        GenerationOptions held =
            GenerationOptions.builder().responseFormat(format.formatted(schema)).build();
        assertThat(refused(h, "t" + schema.length(), held)).startsWith("response_format: ");
      }
    }
  }

  @Test
  void aReplyWarnsOfTheSchemasOfToolsThatItIsNotHeldTo() throws Exception {
    String strings =
        "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,\"maxItems\":2}";
    String both =
        "[%s,%s]"
            .formatted(function("edit", strings), function("name", "{\"pattern\":\"^(a)\\\\1$\"}"));
    try (ServingHarness h = open()) {
      GenerationOptions options =
          GenerationOptions.builder()
              .temperature(0.0)
              .maxTokens(200)
              .tools(both)
              .toolChoice("required")
              .build();
      Reply reply = run(h, ask("t1", options, user("Hi")));
      assertThat(reply.error()).isNull();
      assertThat(reply.warnings())
          .hasSize(2)
          .anySatisfy(each -> assertThat(each).contains("the function edit", "uniqueItems"))
          .anySatisfy(each -> assertThat(each).contains("the function name", "pattern"));
      assertThat(run(h, ask("t2", tools().build(), user("Hi"))).warnings()).isNull();
    }
  }

  private static String function(String name, String property) {
    return ("{\"type\":\"function\",\"function\":{\"name\":\"%s\",\"parameters\":{\"type\":\"object\","
            + "\"properties\":{\"a\":%s},\"required\":[\"a\"]}}}")
        .formatted(name, property);
  }

  private static String refused(ServingHarness h, String turn, GenerationOptions options)
      throws Exception {
    Reply reply = run(h, ask(turn, options, user("Hi")));
    assertThat(reply.finishReason()).isEqualTo("rejected");
    return reply.error().message();
  }
}
