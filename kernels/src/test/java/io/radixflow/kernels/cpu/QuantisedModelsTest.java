package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.TinyModels;
import io.radixflow.models.WeightSource;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.QuantisedCopy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

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
    assertSame(ResourceFolder.of("/architectures/deepseek_v3"), format);
  }

  static Stream<TensorType> types() {
    return IntegerCase.types().stream();
  }

  @ParameterizedTest
  @MethodSource("types")
  void codesWithIntegerActivationsAreCloseToTheirFloats(TensorType type)
      throws InterruptedException {
    boolean wide = type.blockElements() == 256;
    assertCloseToFloats(SyntheticWeights.of(wide ? Shapes.wide() : Shapes.mixture(), type));
  }

  @Test
  void expertsInMxfp4WithIntegerActivationsAreCloseToTheirFloats() throws Exception {
    Path path = ResourceFolder.of("/architectures/gpt_oss-mxfp4");
    try (ModelFile model = ModelFile.open(path)) {
      assertCloseToFloats(model);
    }
  }

  private void assertSame(Path source, QuantisedCopy.Format format)
      throws IOException, InterruptedException {
    Path quantised = directory.resolve("quantised");
    Path dense = directory.resolve("dense");
    QuantisedCopy.write(source, format, quantised, dense);
    DeviceOptions floats = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    DeviceOptions integers = new DeviceOptions("cpu", 2, null);
    try (ModelFile actual = ModelFile.open(quantised);
        ModelFile expected = ModelFile.open(dense)) {
      for (String name : GraphTensors.of(expected.config()).keySet()) {
        assertSameRows(actual.tensor(name), expected.tensor(name));
      }
      int[] tokens = Sequences.randomTokens(40, expected.config().vocabSize(), 3);
      float[][] logits = logits(expected, tokens, floats);
      assertThat(logits[39]).doesNotContain(Float.NaN);
      assertThat(logits(actual, tokens, floats)).isDeepEqualTo(logits);
      assertClose(logits(actual, tokens, integers), logits(expected, tokens, integers));
    }
  }

  private static void assertCloseToFloats(WeightSource model) throws InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, null);
    int[] tokens = Sequences.randomTokens(40, model.config().vocabSize(), 3);
    assertClose(logits(model, tokens, options), logits(new FloatWeights(model), tokens, options));
  }

  /**
   * Only the weights that are codes have integer activations, of 2<sup>-16</sup> of a block's
   * largest. These models of random weights make 30 times the unit of floats' errors, and as much
   * of the unit of integers': up to 3e-3 of the largest logit was measured.
   */
  private static void assertClose(float[][] actual, float[][] expected) {
    double worst = 0;
    double largest = 0;
    for (int row = 0; row < expected.length; row++) {
      for (int id = 0; id < expected[row].length; id++) {
        worst = Math.max(worst, Math.abs(actual[row][id] - expected[row][id]));
        largest = Math.max(largest, Math.abs(expected[row][id]));
      }
    }
    assertThat(worst / largest).isLessThan(6e-3);
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

  private static float[][] logits(WeightSource model, int[] tokens, DeviceOptions options)
      throws InterruptedException {
    try (CpuBackend backend = CpuBackend.open(model, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      return Sequences.logits(backend, tokens, 16, Sequences.pages(tokens.length));
    }
  }
}
