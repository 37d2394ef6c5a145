package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.RepliesAlone;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TinyChatModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A model on the CPU says the same bits, whether its pages were computed or came from the host. */
@Timeout(180)
class TieredTinyModelTest {
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);

  @ParameterizedTest
  @EnumSource(
      value = KvSpec.Type.class,
      names = {"F32", "F16", "FP8"})
  void repliesAndTheirLogprobsAreTheSame(KvSpec.Type type, @TempDir Path directory)
      throws IOException {
    try (ServedModel model = ModelLoader.open(TinyChatModel.write(directory))) {
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
      for (WritePolicy policy : WritePolicy.values()) {
        EngineOptions tight =
            EngineOptions.builder()
                .kvPages(16)
                .contextLength(160)
                .auditMillis(0)
                .tiers(
                    TierOptions.NONE
                        .withHostBytes(16 << 20)
                        .withLoadBackThreshold(1)
                        .withWritePolicy(policy))
                .build();
        try (Engine engine = ContinuousBatchingEngine.open(model, device, tight)) {
          for (int round = 0; round < 4; round++) {
            alone.assertSameOn(engine);
            TieredEngineTest.awaitSettled(engine);
          }
          assertThat(Engines.stats(engine).tiers().loadedPages()).as("%s", policy).isPositive();
        }
      }
    }
  }
}
