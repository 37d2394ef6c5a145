package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.TextModel;
import org.junit.jupiter.api.Test;

class ModelDefaultsTest {

  @Test
  void theModelsAdviceAppliesWhereTheOptionsLeaveSomethingOpen() {
    ServingEngine engine =
        new ServingEngine(
            null, new Advising(new SamplingDefaults(0.2, 40, 0.9, null, null)), EngineTiers.NONE);
    ServingOptions options = ServingOptions.DEFAULT;
    GenerationOptions all = engine.withModelDefaults(options).defaults();
    assertThat(all)
        .isEqualTo(GenerationOptions.builder().temperature(0.2).topK(40).topP(0.9).build());
    ServingOptions given =
        new ServingOptions(
            options.limits(),
            options.prompts(),
            GenerationOptions.builder().temperature(1.5).minP(0.1).maxTokens(7).build(),
            options.retention(),
            options.cancelRetention(),
            options.namespaces(),
            options.modelChange());
    assertThat(engine.withModelDefaults(given).defaults())
        .isEqualTo(
            GenerationOptions.builder()
                .temperature(1.5)
                .topK(40)
                .topP(0.9)
                .minP(0.1)
                .maxTokens(7)
                .build());
  }

  private record Advising(SamplingDefaults defaults) implements ServedModel {
    @Override
    public String name() {
      return "advising";
    }

    @Override
    public String fingerprint() {
      throw new UnsupportedOperationException();
    }

    @Override
    public ModelConfig config() {
      throw new UnsupportedOperationException();
    }

    @Override
    public TextModel text() {
      return new TextModel(null, null, null, defaults);
    }

    @Override
    public Backend openBackend(DeviceOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
