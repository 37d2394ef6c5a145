package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.TinyModels;
import io.radixflow.models.file.ModelFile;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every architecture and file format against logits of transformers. */
class TinyModelsForwardTest {

  static Stream<String> models() {
    return Stream.of(TinyModels.DIRECTORIES, TinyModels.GGUF).flatMap(List::stream);
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsEqualTheReference(String name) throws IOException, InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile file = ModelFile.open(TinyModels.path(name));
        CpuBackend backend = CpuBackend.open(file, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      for (TinyModels.Case reference : TinyModels.cases(name)) {
        int[] ids = reference.ids();
        float[][] logits = Sequences.logits(backend, ids, 9, Sequences.pages(ids.length));
        for (int i = 0; i < reference.positions().length; i++) {
          float[] actual = logits[reference.positions()[i]];
          float[] expected = reference.logits()[i];
          assertThat(actual).hasSize(expected.length);
          for (int id = 0; id < actual.length; id++) {
            assertThat(actual[id]).as("token %d", id).isCloseTo(expected[id], within(2e-4f));
          }
        }
      }
    }
  }
}
