package io.radixflow.engine.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.RepliesAlone;
import io.radixflow.engine.WindowStats;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TieredEngineTest;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.ServedOnGpu;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model on a GPU of which one layer sees 19 tokens and the other all. */
@Timeout(600)
class EngineWindowsOnGpuTest {
  private static final DeviceOptions GPU = new DeviceOptions("cuda", 0, null);
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);

  private static ServedOnGpu model;
  private static RepliesAlone alone;

  @BeforeAll
  static void runAlone() {
    EmulatedGpu.require();
    model = new ServedOnGpu(CudaModels::windowed);
    List<EngineRequest> requests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int[] prompt = Engines.concat(Engines.letters(1, 40), Engines.letters(2 + i, 60 + 30 * i));
      requests.add(EngineClient.request(prompt, WARM, 12));
    }
    alone =
        RepliesAlone.of(
            requests,
            options ->
                ContinuousBatchingEngine.open(
                    model, GPU, options.kvPages(100).contextLength(320).build()));
  }

  @AfterAll
  static void close() {
    if (model != null) {
      model.close();
    }
  }

  private static EngineOptions.Builder options() {
    return EngineOptions.builder()
        .kvPages(40)
        .contextLength(320)
        .stepRows(32)
        .maxRunning(8)
        .auditMillis(0);
  }

  @ParameterizedTest
  @CsvSource({"0.01, 7", "0.5, 20", "1, 40"})
  void repliesAreTheSameWithFewWindowPartsAndWithMany(double share, int parts) {
    CacheOptions cache = CacheOptions.DEFAULT.withWindowShare(share);
    try (Engine engine =
        ContinuousBatchingEngine.open(model, GPU, options().cache(cache).build())) {
      WindowStats windows = null;
      for (int round = 0; round < 2; round++) {
        windows = alone.assertSameOn(engine).pool().windows();
      }
      assertThat(windows.window()).isEqualTo(19);
      assertThat(windows.total()).isEqualTo(parts);
      assertThat(windows.locked()).isZero();
      if (share < 1) {
        assertThat(windows.taken()).as("parts of pages behind the window").isPositive();
      }
    }
  }

  @Test
  void windowPartsComeBackFromTheHostWithTheirPages() {
    TierOptions tiers = TierOptions.NONE.withHostBytes(16 << 20).withLoadBackThreshold(1);
    EngineOptions tight = options().kvPages(20).tiers(tiers).build();
    try (Engine engine = ContinuousBatchingEngine.open(model, GPU, tight)) {
      for (int round = 0; round < 3; round++) {
        assertThat(alone.assertSameOn(engine).pool().windows().total()).isEqualTo(10);
        TieredEngineTest.awaitSettled(engine);
      }
      assertThat(Engines.stats(engine).tiers().loadedPages()).isPositive();
      assertThat(Engines.stats(engine).tiers().failedTransfers()).isZero();
    }
  }

  @Test
  void pagesAndWindowPartsTakeTheMemoryOfTheGpuThatTheEngineMayHaveAndNoMore() {
    EmulatedGpu.requireEmulated();
    long budget = 256L << 20;
    DeviceOptions gpu = new DeviceOptions("cuda", 0, null, GPU.gpuMode(), budget);
    EngineOptions all = options().kvPages(0).build();
    long before = EmulatedDriver.memoryUsed();
    try (Engine engine = ContinuousBatchingEngine.open(model, gpu, all)) {
      assertThat(EmulatedDriver.memoryUsed() - before).isBetween(budget - (2 << 20), budget);
      int pages = engine.info().pages();
      assertThat(Engines.stats(engine).pool().windows().total()).isEqualTo((pages + 1) / 2);
    }
  }
}
