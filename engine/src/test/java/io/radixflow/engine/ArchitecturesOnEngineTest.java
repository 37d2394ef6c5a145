package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.tier.StoredFiles;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TinyChatModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Latent attention, experts, sinks, windows and soft caps: a reply of such a model has the same
 * bits whoever runs beside it, however its prompt is cut, and wherever its pages come from.
 */
@Timeout(300)
class ArchitecturesOnEngineTest {
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);

  private static final int CONTEXT = 160;

  private static final Map<String, ServedModel> MODELS = new LinkedHashMap<>();
  private static final Map<List<Object>, RepliesAlone> ALONE = new LinkedHashMap<>();

  @TempDir static Path directory;

  static Stream<Arguments> models() {
    return Stream.of("deepseek_v3", "gpt_oss-mxfp4", "gemma2", "cohere2")
        .flatMap(
            name ->
                Stream.of(KvSpec.Type.F32, KvSpec.Type.F16).map(type -> Arguments.of(name, type)));
  }

  @BeforeAll
  static void runAlone() throws IOException {
    for (Arguments each : models().toList()) {
      String name = (String) each.get()[0];
      KvSpec.Type type = (KvSpec.Type) each.get()[1];
      if (!MODELS.containsKey(name)) {
        Path files = TinyChatModel.write(directory.resolve(name), name);
        MODELS.put(name, ModelLoader.open(files));
      }
      List<EngineRequest> requests = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        int[] prompt =
            Engines.concat(Engines.letters(i % 2, 40), Engines.letters(2 + i, 50 + 9 * i));
        requests.add(EngineClient.request(prompt, i == 0 ? SamplingParams.GREEDY : WARM, 24));
      }
      ALONE.put(
          List.of(name, type),
          RepliesAlone.of(requests, options -> open(name, type, 1, options.kvPages(40))));
    }
  }

  @AfterAll
  static void close() {
    MODELS.values().forEach(ServedModel::close);
  }

  private static ContinuousBatchingEngine open(
      String model, KvSpec.Type type, int threads, EngineOptions.Builder options) {
    return ContinuousBatchingEngine.open(
        MODELS.get(model),
        new DeviceOptions("cpu", threads, type),
        options.contextLength(CONTEXT).auditMillis(0).build());
  }

  private static RepliesAlone alone(String model, KvSpec.Type type) {
    return ALONE.get(List.of(model, type));
  }

  @ParameterizedTest
  @MethodSource("models")
  void repliesInCompanyInSmallChunksOnTwoThreadsEqualALoneRun(String model, KvSpec.Type type) {
    EngineOptions.Builder options = EngineOptions.builder().kvPages(80).prefillChunk(7);
    try (Engine engine = open(model, type, 2, options.maxRunning(8).stepRows(23))) {
      alone(model, type).assertSameOn(engine);
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void repliesFromTheCacheEqualALoneRun(String model, KvSpec.Type type) {
    RepliesAlone alone = alone(model, type);
    try (Engine engine = open(model, type, 1, EngineOptions.builder().kvPages(80))) {
      EngineStats first = alone.assertSameOn(engine);
      EngineStats second = alone.assertSameOn(engine);
      assertThat(second.steps().cachedTokens() - first.steps().cachedTokens())
          .as("every prompt but its last page")
          .isGreaterThanOrEqualTo(alone.requests().size() * 64L);
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void aPoolThatPreemptsRequestsChangesNoReply(String model, KvSpec.Type type) {
    EngineOptions.Builder tight =
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .kvPages(14);
    try (Engine engine = open(model, type, 2, tight)) {
      assertThat(alone(model, type).assertSameOn(engine).scheduler().preemptions()).isPositive();
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void pagesFromTheHostAndFromFilesEqualComputedOnes(String model, KvSpec.Type type)
      throws IOException {
    RepliesAlone alone = alone(model, type);
    try (StoredFiles files = new StoredFiles()) {
      try (ContinuousBatchingEngine engine = tiered(model, type, files)) {
        for (int round = 0; round < 3; round++) {
          alone.assertSameOn(engine);
          TierStats tiers = TieredEngineTest.awaitSettled(engine);
          assertThat(tiers.loadedPages() > 0).as("round %d", round).isEqualTo(round > 0);
        }
      }
      try (ContinuousBatchingEngine engine = tiered(model, type, files)) {
        alone.assertSameOn(engine);
        TierStats restarted = TieredEngineTest.awaitSettled(engine);
        assertThat(restarted.store().readPages()).as("of the engine before").isPositive();
        assertThat(restarted.loadedPages()).isPositive();
      }
    }
  }

  private static ContinuousBatchingEngine tiered(
      String model, KvSpec.Type type, StoredFiles files) {
    TierOptions tiers =
        TierOptions.NONE
            .withHostBytes(16 << 20)
            .withLoadBackThreshold(1)
            .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1);
    EngineOptions.Builder options =
        EngineOptions.builder().kvPages(16).tiers(files.below(tiers, true, false));
    return open(model, type, 1, options);
  }
}
