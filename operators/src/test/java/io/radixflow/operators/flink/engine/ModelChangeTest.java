package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.TinyChatModel;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.operators.session.ServingOptions.ModelChange;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A conversation begins with one model and continues with another. */
@Timeout(180)
class ModelChangeTest {
  private static final String SESSION = "s";

  /** Names the simulated model, whose tokenizer is another one. */
  private static final Path SIM = Path.of("sim");

  private static final GenerationOptions WARM =
      GenerationOptions.builder().temperature(0.8).maxTokens(48).seed(11L).build();

  @TempDir static Path directory;
  private static Path first;
  private static Path second;
  private static final List<ServingEngine> ENGINES = new ArrayList<>();

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  /** The state in the middle of the second turn. */
  private static OperatorSubtaskState cut;

  private static Reply firstReply;
  private static List<ReplyDelta> shown;

  @BeforeAll
  static void beginWithTheFirstModel() throws Exception {
    first = TinyChatModel.write(directory.resolve("first"), 5);
    second = TinyChatModel.write(directory.resolve("second"), 6);
    try (ServingHarness job = harness(first, ModelChange.CONTINUE)) {
      job.open();
      job.send(Events.message(SESSION, "t1").with(WARM));
      while (job.replies().isEmpty()) {
        job.awaitMail();
      }
      firstReply = job.reply("t1");
      job.send(Events.message(SESSION, "t2").with(WARM));
      while (job.streamed("t2").length() < 8) {
        job.awaitMail();
      }
      cut = job.snapshot();
      shown = deltas(job, "t2");
      job.endInput(1);
      assertThat(job.reply("t2").text()).startsWith(text()).hasSizeGreaterThan(text().length());
    }
  }

  @AfterAll
  static void closeEngines() {
    ENGINES.forEach(ServingEngine::close);
  }

  @Test
  void theNewModelContinuesTheRunningReplyAndTheConversation() throws Exception {
    try (ServingHarness job = restored(second, ModelChange.CONTINUE)) {
      job.send(Events.message(SESSION, "t3").with(WARM));
      job.endInput(1);

      assertThat(job.reply("t2").text()).startsWith(text());
      assertThat(deltas(job, "t2").get(0).offset())
          .isEqualTo(text().codePointCount(0, text().length()));
      assertThat(job.reply("t2").usage().cachedTokens()).as("pages of the first model").isZero();
      assertThat(job.reply("t3").usage().cachedTokens()).as("pages of the second").isPositive();
    }
  }

  @Test
  void theNewModelStartsTheRunningReplyOverIfTheOptionSaysSo() throws Exception {
    try (ServingHarness job = restored(second, ModelChange.RESTART)) {
      job.endInput(1);
      assertThat(deltas(job, "t2").get(0).offset()).isZero();
      assertThat(job.reply("t2").text()).isEqualTo(textOf("t2", deltas(job, "t2")));
    }
  }

  @Test
  void theSameModelContinuesWhateverTheOptionSays() throws Exception {
    for (ModelChange change : ModelChange.values()) {
      try (ServingHarness job = restored(first, change)) {
        job.endInput(1);
        assertThat(job.reply("t2").text()).as(change.name()).startsWith(text());
        assertThat(job.endings()).as(change.name()).allMatch(e -> e.matches("t2:(stop|length)"));
      }
    }
  }

  @Test
  void theRunningReplyEndsWithWhatItHasIfTheOptionSaysSo() throws Exception {
    try (ServingHarness job = restored(second, ModelChange.END)) {
      job.send(Events.message(SESSION, "t3").with(WARM));
      job.endInput(1);

      assertThat(job.endings().get(0)).isEqualTo("t2:cancelled");
      assertThat(job.reply("t2").text()).isEqualTo(text());
      assertThat(job.reply("t3").usage().promptTokens())
          .isGreaterThan(job.reply("t2").usage().promptTokens() + text().length());
    }
  }

  @Test
  void aModelWithAnotherTokenizerReadsTheConversationAsText() throws Exception {
    for (ModelChange change : ModelChange.values()) {
      try (ServingHarness job = restored(SIM, change)) {
        job.send(Events.message(SESSION, "t3").with(WARM));
        job.endInput(1);
        Reply ended = job.reply("t2");
        if (change == ModelChange.END) {
          assertThat(job.endings().get(0)).isEqualTo("t2:cancelled");
          assertThat(ended.text()).isEqualTo(text());
          assertThat(job.reply("t3").usage().promptTokens())
              .as("the question and what was shown of its answer are in the next prompt")
              .isGreaterThan(promptOfSim("t1", "t2") + text().length());
        } else {
          assertThat(deltas(job, "t2").get(0).offset()).isZero();
          assertThat(ended.text()).isEqualTo(textOf("t2", deltas(job, "t2")));
          assertThat(ended.usage().promptTokens()).isEqualTo(promptOfSim("t1", "t2"));
        }
        assertThat(job.endings().get(1)).matches("t3:(stop|length)");
      }
    }
  }

  @Test
  void pagesOfTheFirstModelOnDiskAreNotUsed(@TempDir Path disk) throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness job = tiered(first, disk)) {
      job.open();
      job.ask(question("t1"));
      engines.awaitSettled();
      assertThat(engines.stats().store().pages()).isGreaterThan(40);
      state = job.snapshot();
    }
    engines.close();
    Reply undisturbed;
    try (ServingHarness job = tiered(second, disk.resolve("empty")).restore(state, 1)) {
      undisturbed = job.ask(question("t2"));
    }
    engines.close();
    try (ServingHarness job = tiered(second, disk).restore(state, 1)) {
      Reply reply = job.ask(question("t2"));
      assertThat(reply.text()).isEqualTo(undisturbed.text());
      assertThat(reply.usage()).isEqualTo(undisturbed.usage());
      assertThat(reply.usage().cachedTokens()).isZero();
    }
    engines.close();
    try (ServingHarness job = tiered(second, disk).restore(state, 1)) {
      Reply reply = job.ask(question("t2"));
      assertThat(reply.text()).isEqualTo(undisturbed.text());
      assertThat(reply.usage().tiers().diskTokens()).as("pages of its own").isPositive();
    }
  }

  private static Events question(String turn) {
    return Events.message(SESSION, turn, TieredEngines.LONG).with(WARM);
  }

  private ServingHarness tiered(Path model, Path disk) throws Exception {
    engines.run(name -> served(model));
    return engines.harness(
        TieredEngines.options(TieredEngines.host(16 << 20)),
        TieredEngines.disk(disk),
        RemoteTierOptions.NONE,
        1,
        0);
  }

  /** Returns the tokens of the prompt of the simulated model that a conversation makes. */
  private static int promptOfSim(String earlier, String turn) throws Exception {
    try (ServingHarness job = harness(SIM, ModelChange.CONTINUE)) {
      job.open();
      job.send(
          Events.of(EventKind.APPEND, SESSION, earlier)
              .with(
                  Events.message(SESSION, earlier).event().messages().get(0),
                  new Message("assistant", firstReply.text())));
      job.send(Events.message(SESSION, turn).with(WARM));
      job.endInput(1);
      return job.reply(turn).usage().promptTokens();
    }
  }

  private static String text() {
    return textOf("t2", shown);
  }

  private static String textOf(String turn, List<ReplyDelta> deltas) {
    return deltas.stream()
        .filter(delta -> delta.turn().equals(turn))
        .map(ReplyDelta::text)
        .collect(Collectors.joining());
  }

  private static List<ReplyDelta> deltas(ServingHarness job, String turn) {
    return job.deltas().stream().filter(delta -> delta.turn().equals(turn)).toList();
  }

  private static ServingHarness restored(Path model, ModelChange change) throws Exception {
    ServingHarness job = harness(model, change);
    job.setProcessingTime(2_000);
    job.restore(cut, 1);
    return job;
  }

  private static ServingHarness harness(Path model, ModelChange change) throws Exception {
    TestEngineFactory factory = TestEngineFactory.of("model-change", () -> open(model));
    return new ServingHarness(factory, Options.with(o -> o.modelChange = change), 1, 0);
  }

  private static ServedModel served(Path model) {
    return model.equals(SIM) ? SimModel.open(SimOptions.DEFAULT) : ModelLoader.open(model);
  }

  private static ServingEngine open(Path model) {
    ServedModel served = served(model);
    EngineOptions options =
        EngineOptions.builder().kvPages(64).contextLength(1024).ringTokens(4).build();
    ServingEngine engine =
        new ServingEngine(
            ContinuousBatchingEngine.open(served, new DeviceOptions("auto", 1, null), options),
            served);
    ENGINES.add(engine);
    return engine;
  }
}
