package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.cuda.weights.CudaWeightSizes;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.TinyModels;
import io.radixflow.models.WeightSource;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.QuantisedCopy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Weights that stay quantised on the device give the logits of the same weights as bf16. */
class QuantisedWeightsTest {

  private static final ModelConfig CONFIG = CudaModels.inGroups();

  /** Formats whose groups are no blocks of 32, or whose 8 bits have zero points of their own. */
  private static final Set<QuantisedCopy.Format> IN_BF16 =
      Set.of(QuantisedCopy.Format.GPTQ_ACTIVATION_ORDER, QuantisedCopy.Format.GPTQ_8);

  @TempDir Path directory;

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  static Stream<TensorType> types() {
    return Stream.of(WeightFormat.values()).flatMap(format -> format.types().stream());
  }

  @ParameterizedTest
  @MethodSource("types")
  void logitsHaveTheBitsOfThoseWithWeightsRoundedToBf16(TensorType type) throws Exception {
    ModelConfig config = type.blockElements() == 32 ? CONFIG : CudaModels.inBlocks();
    assertSameBits(SyntheticWeights.of(config, type), share(type));
  }

  @ParameterizedTest
  @MethodSource("types")
  void expertsHaveTheBitsOfThoseWithWeightsRoundedToBf16(TensorType type) throws Exception {
    assertSameBits(SyntheticWeights.of(CudaModels.expertsInBlocks(), type), share(type));
  }

  /** Returns the memory of a type as a share of bf16's, with an allowance for norms and padding. */
  private static double share(TensorType type) {
    return WeightFormat.of(type).bytesPerWeight() / BFloat16.BYTES + 0.03;
  }

  /** The types are mixed as in files of Q4_K_M, where half the layers have values in Q6_K. */
  @ParameterizedTest
  @CsvSource({"Q4_K, Q6_K", "Q5_K, BF16", "BF16, Q8_0"})
  void queriesKeysAndValuesOfSeveralTypesKeepTheirs(TensorType type, TensorType valueType)
      throws Exception {
    ModelConfig config = CudaModels.inBlocks();
    WeightSource all = SyntheticWeights.of(config, type);
    WeightSource mixed = SyntheticWeights.of(config, type, valueType, type);
    assertSameBits(mixed, 1);
    Grouped attention = (Grouped) config.layer(0).attention();
    double values = (double) attention.kvHeads() * attention.headDim() * config.hiddenSize();
    double more =
        WeightFormat.of(valueType).bytesPerWeight() - WeightFormat.of(type).bytesPerWeight();
    assertThat(bytes(mixed) - bytes(all)).isEqualTo((long) (config.layers() * values * more));
  }

  @Test
  void biasesOfQueriesKeysAndValuesOfSeveralTypesAreAdded() throws Exception {
    ModelConfig config = CudaModels.inBlocks(true);
    assertSameBits(
        SyntheticWeights.of(config, TensorType.Q4_K, TensorType.Q6_K, TensorType.Q4_K), 1);
  }

  @Test
  void gateAndUpProjectionOfSeveralTypesAreBf16() throws Exception {
    WeightSource weights = SyntheticWeights.of(CONFIG, TensorType.Q4_0);
    WeightSource up = SyntheticWeights.of(CONFIG, TensorType.Q8_0);
    assertSameBits(new Chosen(weights, name -> name.contains("ffn_up") ? up : weights), 1);
  }

  @ParameterizedTest
  @EnumSource(QuantisedCopy.Format.class)
  void quantisedSafetensorsHaveTheBitsOfTheirValuesRoundedToBf16(QuantisedCopy.Format format)
      throws Exception {
    assertSameBits(TinyModels.path("llama"), format);
  }

  @ParameterizedTest
  @EnumSource(
      value = QuantisedCopy.Format.class,
      names = {"FP8", "FP8_128", "GPTQ"})
  void soDoThoseOfAMixtureWithLatentAttention(QuantisedCopy.Format format) throws Exception {
    assertSameBits(ResourceFolder.of("/architectures/deepseek_v3"), format);
  }

  @Test
  void soDoThoseOfGptOssWithExpertsInMxfp4() throws Exception {
    Path source = ResourceFolder.of("/architectures/gpt_oss-mxfp4");
    try (ModelFile model = ModelFile.open(source)) {
      assertSameBits(model, 1);
    }
  }

  private void assertSameBits(Path source, QuantisedCopy.Format format) throws Exception {
    Path quantised = directory.resolve("quantised");
    QuantisedCopy.write(source, format, quantised, directory.resolve("dense"));
    try (ModelFile model = ModelFile.open(quantised)) {
      assertSameBits(model, IN_BF16.contains(format) ? 1.001 : 1);
    }
  }

  private static void assertSameBits(WeightSource weights, double share) throws Exception {
    long[] bytes = new long[2];
    float[][] quantised = logits(weights, bytes, 0);
    assertThat(quantised[0]).doesNotContain(Float.NaN);
    assertThat(quantised).isDeepEqualTo(logits(new Rounded(weights), bytes, 1));
    assertThat((double) bytes[0] / bytes[1]).as("share of the memory").isLessThan(share);
    assertThat(bytes(weights)).as("known before").isEqualTo(bytes[0]);
  }

  private static long bytes(WeightSource weights) {
    return CudaWeightSizes.of(weights, 0).weightBytes();
  }

  /** Logits of a prefill in two chunks, and of a decoded token. */
  private static float[][] logits(WeightSource weights, long[] bytes, int index)
      throws InterruptedException {
    int[] tokens = Sequences.randomTokens(41, weights.config().vocabSize(), 3);
    DeviceOptions options = new DeviceOptions("cuda", 0, null);
    try (CudaBackend backend = CudaBackend.open(weights, options, 0);
        KvPool pool = backend.openPool(4, 16)) {
      bytes[index] = backend.weightBytes();
      assertThat(pool.pages()).isEqualTo(4);
      return Sequences.logits(backend, tokens, 20, Sequences.pages(tokens.length));
    }
  }

  /** The same weights, each rounded to bf16 on the host, but those of routers, which are floats. */
  private record Rounded(WeightSource source) implements WeightSource {

    @Override
    public ModelConfig config() {
      return source.config();
    }

    @Override
    public Tensor tensor(String name) {
      Tensor tensor = source.tensor(name);
      boolean exact = tensor.rows() == 1 || name.contains("ffn_gate_inp");
      return exact ? tensor : new RoundedTensor(tensor);
    }

    @Override
    public String fingerprint() {
      return source.fingerprint();
    }

    @Override
    public void close() {
      source.close();
    }
  }

  /** Weights some of which come from another source. */
  private record Chosen(WeightSource source, Function<String, WeightSource> of)
      implements WeightSource {

    @Override
    public ModelConfig config() {
      return source.config();
    }

    @Override
    public Tensor tensor(String name) {
      return of.apply(name).tensor(name);
    }

    @Override
    public String fingerprint() {
      return source.fingerprint();
    }

    @Override
    public void close() {
      source.close();
    }
  }

  private record RoundedTensor(Tensor tensor) implements Tensor {

    @Override
    public String name() {
      return tensor.name();
    }

    @Override
    public TensorType type() {
      return TensorType.BF16;
    }

    @Override
    public int rows() {
      return tensor.rows();
    }

    @Override
    public int columns() {
      return tensor.columns();
    }

    @Override
    public ByteBuffer rows(int first, int count) {
      ByteBuffer bytes =
          ByteBuffer.allocate(count * columns() * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      float[] row = new float[columns()];
      for (int i = 0; i < count; i++) {
        tensor.dequantize(first + i, row, 0);
        for (float value : row) {
          bytes.putShort(BFloat16.fromFloat(value));
        }
      }
      return bytes.flip();
    }

    @Override
    public void dequantize(int row, float[] target, int offset) {
      ByteBuffer bytes = rows(row, 1);
      for (int i = 0; i < columns(); i++) {
        target[offset + i] = BFloat16.toFloat(bytes.getShort(2 * i));
      }
    }
  }
}
