package io.radixflow.engine.pages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.RepliesAlone;
import io.radixflow.engine.WindowStats;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TinyChatModel;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A real, tiny model of which one layer sees 24 tokens and the other all: the same bits. */
@Timeout(300)
public class TinyWindowsTest {
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);

  public static Path write(Path directory) throws IOException {
    return write(directory, "full_attention");
  }

  private static Path write(Path directory, String second) throws IOException {
    File file = TinyChatModel.write(directory).resolve("config.json").toFile();
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode config = (ObjectNode) mapper.readTree(file);
    config.put("model_type", "ministral").put("sliding_window", 24);
    config.putArray("architectures").add("MinistralForCausalLM");
    config.putArray("layer_types").add("sliding_attention").add(second);
    mapper.writeValue(file, config);
    return directory;
  }

  @ParameterizedTest
  @EnumSource(
      value = KvSpec.Type.class,
      names = {"F32", "F16", "FP8"})
  void repliesAreTheSameWithFewWindowPartsWithManyAndWithNone(
      KvSpec.Type type, @TempDir Path directory) throws IOException {
    try (ServedModel model = ModelLoader.open(write(directory))) {
      DeviceOptions device = new DeviceOptions("cpu", 1, type);
      List<EngineRequest> requests = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        int[] prompt = Engines.concat(Engines.letters(1, 40), Engines.letters(2 + i, 60 + 9 * i));
        requests.add(EngineClient.request(prompt, WARM, 12));
      }
      RepliesAlone alone =
          RepliesAlone.of(
              requests,
              options ->
                  ContinuousBatchingEngine.open(
                      model, device, options.kvPages(40).contextLength(160).build()));
      EngineOptions.Builder options =
          EngineOptions.builder()
              .kvPages(30)
              .contextLength(160)
              .stepRows(32)
              .maxRunning(8)
              .speculation(new SpeculationOptions(SpeculationOptions.Mode.ALWAYS, 5))
              .auditMillis(0);
      for (double share : new double[] {0.01, 0.5, 1}) {
        CacheOptions cache = CacheOptions.DEFAULT.withWindowShare(share);
        try (Engine engine =
            ContinuousBatchingEngine.open(model, device, options.cache(cache).build())) {
          WindowStats windows = null;
          for (int round = 0; round < 3; round++) {
            windows = alone.assertSameOn(engine).pool().windows();
          }
          EngineStats stats = alone.predicting(5).assertSameOn(engine);
          assertThat(stats.drafts().accepted()).isPositive();
          assertThat(windows.total()).isEqualTo(share == 1 ? 30 : share == 0.5 ? 15 : 7);
        }
      }
      TierOptions tiers = TierOptions.NONE.withHostBytes(16 << 20);
      try (Engine engine =
          ContinuousBatchingEngine.open(model, device, options.tiers(tiers).build())) {
        assertThat(alone.assertSameOn(engine).pool().windows().total()).isPositive();
      }
    }
  }

  @Test
  void aModelWithAWindowInEveryLayerIsServedWithTiers(@TempDir Path directory) throws IOException {
    try (ServedModel model = ModelLoader.open(write(directory, "sliding_attention"))) {
      DeviceOptions device = new DeviceOptions("cpu", 1, KvSpec.Type.F32);
      EngineOptions.Builder options =
          EngineOptions.builder().kvPages(30).contextLength(160).auditMillis(0);
      RepliesAlone alone =
          RepliesAlone.of(
              List.of(EngineClient.request(Engines.letters(1, 100), WARM, 12)),
              plain ->
                  ContinuousBatchingEngine.open(model, device, plain.contextLength(160).build()));
      TierOptions tiers = TierOptions.NONE.withHostBytes(16 << 20);
      try (Engine engine =
          ContinuousBatchingEngine.open(model, device, options.tiers(tiers).build())) {
        assertThat(alone.assertSameOn(engine).pool().windows())
            .as("its pages have all layers")
            .isEqualTo(WindowStats.NONE);
      }
    }
  }
}
