package io.radixflow.operators.flink.turn.run;

import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.assistant;
import static io.radixflow.operators.flink.turn.run.HistoryMatchTest.user;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns whose reply goes on from the last message. */
@Timeout(180)
class ContinuedMessageTest {
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"warmth\",\"parameters\":{}}}]";

  private ServingEngine engine;

  @AfterEach
  void closeEngine() {
    engine.close();
  }

  private ServingHarness open() throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0).withCalls(true));
    engine =
        new ServingEngine(
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
            model);
    ServingHarness h =
        new ServingHarness(
            TestEngineFactory.of("continued", () -> engine), ServingOptions.DEFAULT, 1, 0);
    h.open();
    return h;
  }

  private static GenerationOptions.Builder limited(int maxTokens) {
    return GenerationOptions.builder().temperature(0.0).maxTokens(maxTokens);
  }

  private static GenerationOptions continued(int maxTokens) {
    return limited(maxTokens).continueFinalMessage(true).addGenerationPrompt(false).build();
  }

  private static Reply run(ServingHarness h, ConversationEvent event) throws Exception {
    int before = h.replies().size();
    h.send(event);
    while (h.replies().size() == before) {
      h.awaitMail();
    }
    return h.reply(event.turn());
  }

  private static Reply whole(
      ServingHarness h, String turn, GenerationOptions options, Message... conversation)
      throws Exception {
    return run(
        h,
        ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
            .messages(List.of(conversation))
            .matchHistory(true)
            .options(options)
            .build());
  }

  private static Reply query(ServingHarness h, String id, String turn) throws Exception {
    return run(h, ConversationEvent.builder(EventKind.QUERY, "s", id).atTurn(turn).build());
  }

  @Test
  void aReplyThatWasCutGoesOnAsIfItHadNotBeen() throws Exception {
    try (ServingHarness h = open()) {
      String all = whole(h, "t1", limited(60).build(), user("Tell me")).text();
      Reply cut = whole(h, "t2", limited(30).build(), user("Tell me"));
      assertThat(all).startsWith(cut.text());
      Reply rest = whole(h, "t3", continued(30), user("Tell me"), assistant(cut.text()));
      assertThat(rest.text()).isEqualTo(all.substring(cut.text().length()));
      assertThat(rest.usage().completionTokens()).isEqualTo(30);
      assertThat(rest.usage().cachedTokens())
          .isGreaterThanOrEqualTo((rest.usage().promptTokens() - 1) / 16 * 16);
      assertThat(h.deltas().stream().filter(d -> d.turn().equals("t3")).map(ReplyDelta::text))
          .satisfies(
              texts ->
                  assertThat(texts.stream().collect(Collectors.joining())).isEqualTo(rest.text()));
    }
  }

  @Test
  void theNextTurnFollowsTheWholeReply() throws Exception {
    try (ServingHarness h = open()) {
      Reply rest = whole(h, "t1", continued(40), user("Tell me"), assistant("Once upon"));
      Message reply = assistant("Once upon" + rest.text());
      Reply next = whole(h, "t2", limited(5).build(), user("Tell me"), reply, user("More"));
      assertThat(next.usage().cachedTokens())
          .as("the prompt extends the one before and its reply")
          .isGreaterThanOrEqualTo(
              (rest.usage().promptTokens() + rest.usage().completionTokens() - 1) / 16 * 16);
      List<Reply.Item> items = query(h, "q", null).items();
      assertThat(items).extracting(Reply.Item::content).contains(reply.content());
      assertThat(items).extracting(Reply.Item::turn).containsExactly("t1", "t1", "t2", "t2");
    }
  }

  @Test
  void whoAsksAboutTheTurnGetsWhatItsDeltasHad() throws Exception {
    try (ServingHarness h = open()) {
      Reply rest = whole(h, "t1", continued(20), user("Tell me"), assistant("Once upon"));
      Reply.TurnState state = query(h, "q", "t1").turnState();
      assertThat(state.text()).isEqualTo(rest.text());
      assertThat(state.messages()).containsExactly(user("Tell me"), assistant("Once upon"));
    }
  }

  @Test
  void aRegenerationBeginsInTheSameWayOrWithMessagesOfItsOwn() throws Exception {
    try (ServingHarness h = open()) {
      Reply first = whole(h, "t1", continued(20), user("Tell me"), assistant("Once upon"));
      Reply again =
          run(h, ConversationEvent.builder(EventKind.REGENERATE, "s", "t2").atTurn("t1").build());
      assertThat(again.text()).isEqualTo(first.text());
      Reply other =
          run(
              h,
              ConversationEvent.builder(EventKind.REGENERATE, "s", "t3")
                  .atTurn("t2")
                  .messages(List.of(assistant("Twice")))
                  .options(continued(20))
                  .build());
      assertThat(other.text()).isNotEqualTo(first.text());
      assertThat(query(h, "q", null).items())
          .extracting(Reply.Item::content)
          .containsExactly("Tell me", "Twice" + other.text());
    }
  }

  @Test
  void aCallThatTheMessageBeginsIsACallOfTheReply() throws Exception {
    try (ServingHarness h = open()) {
      String call = "<tool_call>\n{\"name\": \"warmth\", \"arguments\": {\"at\": \"";
      GenerationOptions options = continued(20).toBuilder().tools(TOOLS).build();
      Reply reply = whole(h, "t1", options, user("Hi"), assistant("Wait. " + call));
      assertThat(reply.text()).isEmpty();
      assertThat(reply.toolCalls()).extracting(ToolCall::name).containsExactly("warmth");
      assertThat(reply.toolCalls().get(0).arguments())
          .startsWith("{\"at\": \"")
          .hasSizeGreaterThan(10);
      assertThat(query(h, "q", null).items())
          .extracting(Reply.Item::content)
          .containsExactly("Hi", "Wait. ");
    }
  }

  @Test
  void onlyTextOfTheAssistantIsContinued() throws Exception {
    try (ServingHarness h = open()) {
      assertThat(whole(h, "t1", continued(5), user("Hi")).error().message())
          .contains("the last message has the role \"user\"");
      ToolCall call = new ToolCall("c", "warmth", "{}");
      Message calls = new Message("assistant", null, null, List.of(call), null, null);
      assertThat(whole(h, "t2", continued(5), user("Hi"), calls).error().message())
          .contains("send their results");
      assertThat(whole(h, "t3", continued(5), user("Hi"), assistant("")).error()).isNull();
    }
  }

  @Test
  void aPromptMayEndWithItsMessages() throws Exception {
    try (ServingHarness h = open()) {
      Reply open = whole(h, "t1", limited(5).build(), user("Tell me"));
      Reply bare = whole(h, "t2", limited(5).addGenerationPrompt(false).build(), user("Tell me"));
      assertThat(open.usage().promptTokens() - bare.usage().promptTokens())
          .isEqualTo(1 + "assistant\n".length());
    }
  }
}
