package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.prompt.ThinkingModel;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.TextModel;
import io.radixflow.text.prompt.PromptText;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a prompt counts without a job what a turn's usage says. */
@Timeout(120)
class PromptTextTest {
  private static final GenerationOptions TOOLS =
      GenerationOptions.builder()
          .maxTokens(4)
          .tools(
              "[{\"type\": \"function\", \"function\": {\"name\": \"warmth\", \"parameters\":"
                  + " {\"type\": \"object\"}}}]")
          .build();

  private static final Message[] MESSAGES = {
    new Message("developer", "Be brief."),
    new Message("user", "How warm is it?"),
    new Message(
        "assistant",
        null,
        null,
        List.of(new ToolCall("c1", "warmth", "{\"at\": \"Ulm\"}")),
        null,
        "I must ask."),
    new Message("tool", "7", null, List.of(), "c1", null),
    new Message("user", "And now?")
  };

  @TempDir Path directory;

  @Test
  void withATemplateThatTakesCallsAndTools() throws Exception {
    assertCountIsUsage(() -> SimModel.open(SimOptions.DEFAULT));
  }

  @Test
  void withATemplateThatTakesContentOnly() throws Exception {
    assertCountIsUsage(() -> ThinkingModel.open(directory, SimOptions.DEFAULT));
  }

  private static void assertCountIsUsage(Supplier<ServedModel> model) throws Exception {
    TestEngineFactory factory = TestEngineFactory.of("prompt-text", () -> engine(model.get()));
    try (ServedModel counted = model.get();
        ServingHarness job = new ServingHarness(factory, ServingOptions.DEFAULT, 1, 0)) {
      job.open();
      PromptText text = new PromptText(TextModel.of(counted.tokenizer(), counted.chatTemplate()));
      assertThat(
              job.ask(Events.message("s", "t1").with(MESSAGES).with(TOOLS)).usage().promptTokens())
          .isEqualTo(count(text, TOOLS, MESSAGES));
      assertThat(job.ask(Events.message("r", "t2").with(MESSAGES)).usage().promptTokens())
          .isEqualTo(count(text, null, MESSAGES));
      Message raw = new Message(Message.PROMPT, "As it is.");
      Events prompt = new Events(ConversationEvent.prompt("p", "t3", raw.content()).build());
      assertThat(job.ask(prompt).usage().promptTokens()).isEqualTo(count(text, null, raw));
    }
  }

  private static int count(PromptText text, GenerationOptions given, Message... messages) {
    PromptOptions options = PromptOptions.resolve(Arrays.asList(given));
    return text.encode(
            List.of(messages), new PromptText.Options(options.template(), null, true, true, false))
        .length;
  }

  private static ServingEngine engine(ServedModel model) {
    return new ServingEngine(
        ContinuousBatchingEngine.open(
            model, DeviceOptions.DEFAULT, EngineOptions.builder().kvPages(256).build()),
        model);
  }
}
