package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.TinyModels;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.GraphTensors;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.file.ModelFile;
import io.radixflow.kernels.model.file.QuantisedCopy;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Models of quantised safetensors compute what models with the same weights in floats compute. */
class QuantisedModelsTest {

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(QuantisedCopy.Format.class)
  void aQuantisedLlamaEqualsItsFloats(QuantisedCopy.Format format) throws Exception {
    assertSame(TinyModels.path("llama"), format);
  }

  /** Its matrices are split, transposed, and of columns that are no whole blocks. */
  @ParameterizedTest
  @EnumSource(QuantisedCopy.Format.class)
  void aQuantisedMixtureWithLatentAttentionEqualsItsFloats(QuantisedCopy.Format format)
      throws Exception {
    assertSame(Path.of(getClass().getResource("/architectures/deepseek_v3").toURI()), format);
  }

  private void assertSame(Path source, QuantisedCopy.Format format)
      throws IOException, InterruptedException {
    Path quantised = directory.resolve("quantised");
    Path dense = directory.resolve("dense");
    QuantisedCopy.write(source, format, quantised, dense);
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile actual = ModelFile.open(quantised);
        ModelFile expected = ModelFile.open(dense)) {
      for (String name : GraphTensors.of(expected.config()).keySet()) {
        assertSameRows(actual.tensor(name), expected.tensor(name));
      }
      int[] tokens = Sequences.randomTokens(40, expected.config().vocabSize(), 3);
      float[][] logits = logits(expected, tokens, options);
      assertThat(logits[39]).doesNotContain(Float.NaN);
      assertThat(logits(actual, tokens, options)).isDeepEqualTo(logits);
    }
  }

  private static void assertSameRows(Tensor actual, Tensor expected) {
    float[] values = new float[expected.columns()];
    float[] floats = new float[expected.columns()];
    for (int row = 0; row < expected.rows(); row++) {
      actual.dequantize(row, values, 0);
      expected.dequantize(row, floats, 0);
      for (int column = 0; column < floats.length; column++) {
        // The sign of a zero changes no product's sum.
        assertThat(values[column] == floats[column])
            .as("%s row %s column %s", expected.name(), row, column)
            .isTrue();
      }
    }
  }

  private static float[][] logits(ModelFile model, int[] tokens, DeviceOptions options)
      throws InterruptedException {
    try (CpuBackend backend = CpuBackend.open(model, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      return Sequences.logits(backend, tokens, 16, Sequences.pages(tokens.length));
    }
  }
}
