package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.TinyChatModel;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A conversation begins on a GPU and continues on a CPU, whose numerics differ. */
@Timeout(180)
class DeviceChangeTest {
  private static final String SESSION = "s";

  private static final GenerationOptions WARM =
      GenerationOptions.builder().temperature(0.8).maxTokens(48).seed(11L).build();

  @TempDir static Path directory;
  private static Path model;
  private static Cut cut;

  private static final List<ServingEngine> ENGINES = new ArrayList<>();

  /** A checkpoint in the middle of the second turn, and what became of that turn on the GPU. */
  private record Cut(OperatorSubtaskState state, List<ReplyDelta> shown, Reply undisturbed) {
    String text() {
      return joined(shown);
    }
  }

  @BeforeAll
  static void beginOnGpu() throws Exception {
    EmulatedGpu.require();
    model = TinyChatModel.write(directory.resolve("tiny"));
    cut = begin();
  }

  @AfterAll
  static void closeEngines() {
    ENGINES.forEach(ServingEngine::close);
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void theRunningReplyAndTheConversationContinueFromTheCheckpoint() throws Exception {
    try (ServingHarness cpu = harness("cpu")) {
      cpu.setProcessingTime(2_000);
      cpu.restore(cut.state(), 1);
      cpu.send(Events.message(SESSION, "t3").with(WARM));
      cpu.endInput(1);

      assertThat(cpu.endings()).hasSize(2).allMatch(e -> e.matches("t[23]:(stop|length)"));
      Reply reply = cpu.reply("t2");
      assertThat(reply.text()).startsWith(cut.text()).hasSizeGreaterThan(cut.text().length());
      assertThat(reply.usage().promptTokens()).isEqualTo(cut.undisturbed().usage().promptTokens());
      assertThat(reply.usage().cachedTokens()).as("pages of the GPU").isZero();
      assertThat(cpu.reply("t3").usage().cachedTokens()).as("pages of the CPU").isPositive();
      assertThat(List.of(epoch(0), epoch(ENGINES.size() - 1))).doesNotHaveDuplicates();
    }
  }

  @Test
  void theFirstDeltaSaysFromWhereTheTextMayChange() throws Exception {
    try (ServingHarness cpu = harness("cpu")) {
      cpu.setProcessingTime(2_000);
      cpu.restore(cut.state(), 1);
      cpu.endInput(1);

      ReplyDelta first = cpu.deltas().get(0);
      ReplyDelta before = cut.shown().get(cut.shown().size() - 1);
      assertThat(first.attempt()).isGreaterThan(before.attempt());
      assertThat(first.offset()).isEqualTo(cut.text().codePointCount(0, cut.text().length()));
      assertThat(first.tokenOffset()).isEqualTo(before.tokenOffset() + before.tokens());
      assertThat(cut.text() + joined(cpu.deltas())).isEqualTo(cpu.reply("t2").text());
    }
  }

  @Test
  void onAGpuAgainTheReplyIsTheUndisturbedOne() throws Exception {
    try (ServingHarness gpu = harness("cuda")) {
      gpu.setProcessingTime(2_000);
      gpu.restore(cut.state(), 1);
      gpu.endInput(1);
      assertThat(gpu.reply("t2").text()).isEqualTo(cut.undisturbed().text());
    }
  }

  private static Cut begin() throws Exception {
    try (ServingHarness gpu = harness("cuda")) {
      gpu.open();
      gpu.send(Events.message(SESSION, "t1").with(WARM));
      while (gpu.replies().isEmpty()) {
        gpu.awaitMail();
      }
      gpu.send(Events.message(SESSION, "t2").with(WARM));
      while (gpu.streamed("t2").length() < 8) {
        gpu.awaitMail();
      }
      OperatorSubtaskState state = gpu.snapshot();
      List<ReplyDelta> shown =
          gpu.deltas().stream()
              .filter(delta -> delta.turn().equals("t2"))
              .collect(Collectors.toList());
      gpu.endInput(1);
      assertThat(gpu.reply("t2").usage().cachedTokens()).isPositive();
      Cut begun = new Cut(state, shown, gpu.reply("t2"));
      assertThat(begun.undisturbed().text()).hasSizeGreaterThan(begun.text().length());
      return begun;
    }
  }

  private static String epoch(int engine) {
    return ENGINES.get(engine).engine().info().numericsEpoch();
  }

  private static String joined(List<ReplyDelta> deltas) {
    return deltas.stream().map(ReplyDelta::text).collect(Collectors.joining());
  }

  private static ServingHarness harness(String device) throws Exception {
    TestEngineFactory factory = TestEngineFactory.of("device-change", () -> open(device));
    return new ServingHarness(factory, ServingOptions.DEFAULT, 1, 0);
  }

  private static ServingEngine open(String device) {
    ServedModel served = ModelLoader.open(model);
    EngineOptions options =
        EngineOptions.builder().kvPages(64).contextLength(512).ringTokens(4).build();
    ServingEngine engine =
        new ServingEngine(
            ContinuousBatchingEngine.open(served, new DeviceOptions(device, 1, null), options),
            served);
    ENGINES.add(engine);
    return engine;
  }
}
