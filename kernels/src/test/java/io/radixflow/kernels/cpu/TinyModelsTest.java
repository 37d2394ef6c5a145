package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.TinyModels;
import io.radixflow.models.file.ModelFile;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TinyModelsTest {

  static Stream<String> models() {
    return Stream.concat(TinyModels.DIRECTORIES.stream(), TinyModels.GGUF.stream());
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsEqualThoseOfTransformers(String name) throws IOException, InterruptedException {
    try (ModelFile model = ModelFile.open(TinyModels.path(name));
        CpuBackend backend = CpuBackend.open(model, new DeviceOptions("cpu", 2, KvSpec.Type.F32))) {
      backend.openPool(8, 16);
      for (TinyModels.Case one : TinyModels.cases(name)) {
        int[] pages = Sequences.pages(one.ids().length);
        float[][] logits = Sequences.logits(backend, one.ids(), 13, pages);
        for (int i = 0; i < one.positions().length; i++) {
          int position = one.positions()[i];
          assertThat(logits[position])
              .as("position %d of %d", position, one.ids().length)
              .containsExactly(one.logits()[i], within(1e-4f));
        }
      }
    }
  }
}
