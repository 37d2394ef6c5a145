package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TestModels;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine's promise on a real model: the same bits for every batch, chunk, cache and pool. */
@Tag("model")
@Timeout(180)
class EngineOnCpuTest {
  private static final String SYSTEM =
      "You answer briefly and never guess. What you do not know, you say so, in one sentence and in"
          + " plain words; what you know, you tell with its source.";
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);
  private static final int TOKENS = 20;

  private static ServedModel model;
  private static RepliesAlone alone;

  @BeforeAll
  static void runAlone() {
    model = ModelLoader.open(TestModels.smolLm2());
    List<EngineRequest> requests = new ArrayList<>();
    for (String question :
        List.of(
            "What is the capital of France?", "What is the capital of Norway?", "Count to 9.")) {
      int[] prompt =
          model
              .chatTemplate()
              .encode(
                  List.of(new Message("system", SYSTEM), new Message("user", question)),
                  true,
                  TemplateOptions.NONE);
      requests.add(EngineClient.request(prompt, WARM, TOKENS));
    }
    alone = RepliesAlone.of(requests, options -> open(1, options));
  }

  @AfterAll
  static void close() {
    if (model != null) {
      model.close();
    }
  }

  private static Engine open(int threads, EngineOptions.Builder options) {
    return ContinuousBatchingEngine.open(
        model,
        new DeviceOptions("cpu", threads, KvSpec.Type.F32),
        options.contextLength(256).auditMillis(0).build());
  }

  @Test
  void repliesInSmallChunksOnTwoThreadsEqualALoneRun() {
    try (Engine engine = open(2, EngineOptions.builder().prefillChunk(7))) {
      assertThat(alone.assertSameOn(engine).steps().cachedTokens()).isPositive();
    }
  }

  @Test
  void repliesFromTheCacheEqualALoneRun() {
    try (Engine engine = open(2, EngineOptions.builder())) {
      alone.assertSameOn(engine);
      long before = Engines.stats(engine).steps().prefilledTokens();
      long after = alone.assertSameOn(engine).steps().prefilledTokens();
      assertThat(after - before).isLessThanOrEqualTo(3 * 16);
    }
  }

  @Test
  void aPoolThatPreemptsRequestsChangesNoReply() {
    int longest =
        alone.requests().stream().mapToInt(EngineOnCpuTest::promptPages).max().orElseThrow();
    EngineOptions.Builder tight =
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .kvPages(2 * longest + 1);
    try (Engine engine = open(2, tight)) {
      assertThat(alone.assertSameOn(engine).scheduler().preemptions()).isPositive();
    }
  }

  private static int promptPages(EngineRequest request) {
    try {
      return (request.prompt().ids().length + 15) / 16;
    } catch (PromptException e) {
      throw new AssertionError(e);
    }
  }
}
