package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.draft.DraftStats;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.cpu.NaiveModel;
import io.radixflow.kernels.cuda.ServedOnGpu;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The engine's promise on a GPU: the same bits for every batch, chunk, cache and pool. */
@Timeout(600)
class EngineOnGpuTest {
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0.2f, 0.1f, Map.of(65, 1f), 11, 3);
  private static final int TOKENS = 12;

  private static ServedOnGpu model;
  private static RepliesAlone alone;

  @BeforeAll
  static void runAlone() {
    EmulatedGpu.require();
    model = new ServedOnGpu();
    List<EngineRequest> requests = new ArrayList<>();
    int[] shared = Engines.letters(1, 70);
    for (int i = 0; i < 4; i++) {
      int[] prompt = Engines.concat(shared, Engines.letters(10 + i, 5 + 40 * i));
      SamplingParams sampling = i == 0 ? SamplingParams.GREEDY : WARM;
      requests.add(EngineClient.request(prompt, sampling, TOKENS));
    }
    GrammarSpec words = new GrammarSpec(Kind.REGEX, "([A-Z][a-z0-9]{2,5} )+");
    requests.add(
        EngineRequest.builder("held", () -> shared, TOKENS)
            .sampling(WARM)
            .grammar(prompt -> words)
            .build());
    alone = RepliesAlone.of(requests, EngineOnGpuTest::open);
  }

  @AfterAll
  static void close() {
    if (model != null) {
      model.close();
    }
  }

  private static Engine open(EngineOptions.Builder options) {
    return ContinuousBatchingEngine.open(
        model,
        new DeviceOptions("cuda", 0, null),
        options.kvPages(64).contextLength(320).auditMillis(0).build());
  }

  @Test
  void repliesInSmallChunksAndFromTheCacheEqualALoneRun() {
    try (Engine engine = open(EngineOptions.builder().prefillChunk(33))) {
      assertThat(alone.assertSameOn(engine).steps().cachedTokens()).isPositive();
      long before = Engines.stats(engine).steps().prefilledTokens();
      long after = alone.assertSameOn(engine).steps().prefilledTokens();
      assertThat(after - before).isLessThanOrEqualTo(5 * 16);
    }
  }

  @Test
  void repliesWhoseDraftsAreVerifiedEqualALoneRun() {
    SpeculationOptions always = new SpeculationOptions(SpeculationOptions.Mode.ALWAYS, 5);
    try (Engine engine = open(EngineOptions.builder().speculation(always))) {
      DraftStats drafts = alone.predicting(4).assertSameOn(engine).drafts();
      assertThat(drafts.accepted()).isPositive().isLessThan(drafts.drafted());
    }
  }

  @Test
  void aReplyFollowsItsGrammar() {
    assertThat(alone.replies().get(4).text.toString())
        .matches("([A-Z][a-z0-9]{2,5} )*([A-Z][a-z0-9]{0,5})?");
  }

  @Test
  void replyFromHostPagesEqualsTheFirst() {
    EngineOptions tight =
        EngineOptions.builder()
            .kvPages(14)
            .contextLength(224)
            .auditMillis(0)
            .tiers(TierOptions.NONE.withHostBytes(8 << 20).withLoadBackThreshold(1))
            .build();
    try (Engine engine =
        ContinuousBatchingEngine.open(model, new DeviceOptions("cuda", 0, null), tight)) {
      for (int round = 0; round < 3; round++) {
        alone.assertSameOn(engine);
        TieredEngineTest.awaitSettled(engine);
      }
      assertThat(Engines.stats(engine).tiers().loadedPages()).isPositive();
      assertThat(Engines.stats(engine).tiers().failedTransfers()).isZero();
    }
  }

  @Test
  void aGreedyReplyIsTheReferencesWhereItsMarginExceedsTheErrorOfBf16() throws PromptException {
    NaiveModel reference = new NaiveModel(model.weights());
    double[] logits = null;
    for (int id : alone.requests().get(0).prompt().ids()) {
      logits = reference.next(id);
    }
    int compared = 0;
    for (int token : alone.replies().get(0).tokens) {
      int best = 0;
      double squares = 0;
      for (int id = 0; id < logits.length; id++) {
        best = logits[id] > logits[best] ? id : best;
        squares += logits[id] * logits[id];
      }
      double deviation = Math.sqrt(squares / logits.length);
      assertThat(logits[best] - logits[token]).isLessThan(0.3 * deviation);
      compared += best == token ? 1 : 0;
      logits = reference.next(token);
    }
    assertThat(compared).isGreaterThan(TOKENS / 2);
  }
}
