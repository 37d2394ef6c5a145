package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.WeightSource;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Weights that stay quantised on the device give the logits of the same weights as bf16. */
class QuantisedWeightsTest {

  private static final ModelConfig CONFIG = CudaModels.inGroups();

  /** What a type takes of the memory of bf16, norms and padding included. */
  private static final Map<TensorType, Double> SHARES =
      Map.of(
          TensorType.Q8_0, 0.56,
          TensorType.Q4_0, 0.32,
          TensorType.Q4_1, 0.36,
          TensorType.Q4_K, 0.4,
          TensorType.Q6_K, 0.65);

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K"})
  void logitsHaveTheBitsOfThoseWithWeightsRoundedToBf16(TensorType type) throws Exception {
    ModelConfig config = type.blockElements() == 32 ? CONFIG : CudaModels.inBlocks();
    WeightSource weights = SyntheticWeights.of(config, type);
    long[] bytes = new long[2];
    float[][] quantised = logits(weights, bytes, 0);
    float[][] rounded = logits(new Rounded(weights), bytes, 1);
    assertThat(quantised).isDeepEqualTo(rounded);
    assertThat((double) bytes[0] / bytes[1]).as("share of the memory").isLessThan(SHARES.get(type));
  }

  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K"})
  void expertsHaveTheBitsOfThoseWithWeightsRoundedToBf16(TensorType type) throws Exception {
    WeightSource weights = SyntheticWeights.of(CudaModels.expertsInBlocks(), type);
    long[] bytes = new long[2];
    float[][] quantised = logits(weights, bytes, 0);
    assertThat(quantised).isDeepEqualTo(logits(new Rounded(weights), bytes, 1));
    assertThat((double) bytes[0] / bytes[1]).as("share of the memory").isLessThan(SHARES.get(type));
  }

  @Test
  void aMatrixOfTensorsOfSeveralTypesIsBf16() throws Exception {
    WeightSource weights =
        SyntheticWeights.of(CONFIG, TensorType.Q4_0, TensorType.Q8_0, TensorType.BF16);
    long[] bytes = new long[2];
    assertThat(logits(weights, bytes, 0)).isDeepEqualTo(logits(new Rounded(weights), bytes, 1));
    assertThat(bytes[0]).isLessThan(bytes[1]);
  }

  /** Logits of a prefill in two chunks, and of a decoded token. */
  private static float[][] logits(WeightSource weights, long[] bytes, int index)
      throws InterruptedException {
    int[] tokens = Sequences.randomTokens(41, CudaModels.VOCAB, 3);
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
