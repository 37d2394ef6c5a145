package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ForwardAccuracyTest {

  private static final int TOKENS = 40;

  @Test
  void llamaEqualsTheDoublePrecisionModel() throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1), KvSpec.Type.F32))
        .isLessThan(2e-5);
  }

  @Test
  void scaledFrequenciesAndAnOutputMatrixEqualTheDoublePrecisionModel()
      throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.llama3(), TensorType.Q8_0), KvSpec.Type.F32))
        .isLessThan(2e-5);
  }

  @Test
  void qwen2EqualsTheDoublePrecisionModel() throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.qwen2(), TensorType.BF16), KvSpec.Type.F32))
        .isLessThan(2e-5);
  }

  @Test
  void qwen3EqualsTheDoublePrecisionModel() throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.qwen3(), TensorType.F16), KvSpec.Type.F32))
        .isLessThan(2e-5);
  }

  @Test
  void widthsThatFitNoVectorEqualTheDoublePrecisionModel() throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.odd(), TensorType.F32), KvSpec.Type.F32))
        .isLessThan(2e-5);
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void everyEncodingEqualsTheDoublePrecisionModel(TensorType type) throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.wide(), type), KvSpec.Type.F32)).isLessThan(2e-5);
  }

  @Test
  void encodingsMayBeMixedInOneProjection() throws InterruptedException {
    WeightSource weights =
        SyntheticWeights.of(Shapes.wide(), TensorType.Q4_K, TensorType.Q6_K, TensorType.Q8_0);
    assertThat(error(weights, KvSpec.Type.F32)).isLessThan(2e-5);
  }

  @Test
  void mixedEncodingsWithoutWholePanelsAreWidened() throws InterruptedException {
    WeightSource weights =
        SyntheticWeights.of(Shapes.odd(), TensorType.F16, TensorType.BF16, TensorType.F32);
    assertThat(error(weights, KvSpec.Type.F32)).isLessThan(2e-5);
  }

  @Test
  void halfPrecisionKeysAndValuesCostLittle() throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1), KvSpec.Type.F16))
        .isLessThan(2e-2)
        .isGreaterThan(2e-5);
  }

  /**
   * Keys and values are rounded to 2<sup>-12</sup> and activations to 2<sup>-16</sup> of the
   * largest of their block, which adds up to 2.1e-3 at most. With activations of a bit or two less
   * it would be more than the limit for some encoding.
   */
  @ParameterizedTest
  @EnumSource(TensorType.class)
  void everyEncodingWithTheDefaultKvTypeIsWithinTheErrorOfHalves(TensorType type)
      throws InterruptedException {
    assertThat(error(SyntheticWeights.of(Shapes.wide(), type), null)).isLessThan(3e-3);
  }

  @Test
  void encodingsMayBeMixedInOneProjectionWithTheDefaultKvType() throws InterruptedException {
    WeightSource weights =
        SyntheticWeights.of(Shapes.wide(), TensorType.Q4_K, TensorType.Q6_K, TensorType.Q8_0);
    // the error of the encodings alone
    assertThat(error(weights, null)).isLessThan(3e-3);
  }

  /** The largest logit error over the sequence, relative to the largest logit. */
  private static double error(WeightSource weights, KvSpec.Type kvType)
      throws InterruptedException {
    ModelConfig config = weights.config();
    int[] tokens = Sequences.randomTokens(TOKENS, config.vocabSize(), 11);
    NaiveModel naive = new NaiveModel(weights);
    double worst = 0;
    double largest = 0;
    try (CpuBackend backend = CpuBackend.open(weights, new DeviceOptions("cpu", 2, kvType))) {
      backend.openPool(8, 16);
      float[][] logits = Sequences.logits(backend, tokens, 13, Sequences.pages(TOKENS));
      for (int i = 0; i < TOKENS; i++) {
        double[] expected = naive.next(tokens[i]);
        for (int id = 0; id < expected.length; id++) {
          worst = Math.max(worst, Math.abs(expected[id] - logits[i][id]));
          largest = Math.max(largest, Math.abs(expected[id]));
        }
      }
    }
    assertThat(largest).isGreaterThan(0.1).isLessThan(1e4);
    return worst / largest;
  }
}
