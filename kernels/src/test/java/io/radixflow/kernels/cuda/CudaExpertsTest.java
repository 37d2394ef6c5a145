package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Layer.Norms;
import io.radixflow.models.ModelConfig;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Models with a mixture of experts on a GPU. */
class CudaExpertsTest {

  static Stream<ModelConfig> models() {
    return Stream.of(
        CudaModels.experts(),
        CudaModels.sharedExpert(),
        CudaModels.groupedExperts(),
        CudaModels.withNorms(CudaModels.experts(), Norms.AFTER),
        CudaModels.withNorms(CudaModels.sharedExpert(), Norms.BEFORE_AND_AFTER),
        CudaModels.withNorms(CudaModels.groupedExperts(), Norms.PARALLEL));
  }

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  @AfterEach
  void nothingIsLeaked() {
    EmulatedGpu.assertNothingIsLeaked();
  }

  private static CudaBackend open(ModelConfig config) {
    DeviceOptions options = new DeviceOptions("cuda", 0, null, GpuMode.DETERMINISTIC, 0);
    return CudaBackend.open(CudaModels.weights(config), options, 0);
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsAreThoseOfTheCpuWithinTheErrorOfBf16(ModelConfig config) throws Exception {
    int[] tokens = Sequences.randomTokens(40, CudaModels.VOCAB, 3);
    float[][] expected = cpuLogits(config, tokens);
    try (CudaBackend backend = open(config);
        KvPool pool = backend.openPool(4, 16)) {
      float[][] logits = Sequences.logits(backend, tokens, 17, Sequences.pages(tokens.length));
      assertThat(pool.pages()).isEqualTo(4);
      double sum = 0;
      for (int i = 0; i < tokens.length; i++) {
        sum += relativeError(logits[i], expected[i]);
      }
      assertThat(sum / tokens.length).as("mean of the largest errors").isLessThan(0.1);
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void weightsTakeWhatIsAddedUpBeforeTheyAreLoaded(ModelConfig config) {
    long expected = CudaBackend.memoryNeeds(CudaModels.weights(config)).weightBytes();
    try (CudaBackend backend = open(config)) {
      assertThat(backend.weightBytes()).isEqualTo(expected);
    }
  }

  /** The largest error in standard deviations of the row. */
  private static double relativeError(float[] logits, float[] expected) {
    double squares = 0;
    double error = 0;
    for (int id = 0; id < expected.length; id++) {
      squares += expected[id] * expected[id];
      error = Math.max(error, Math.abs(expected[id] - logits[id]));
    }
    return error / Math.sqrt(squares / expected.length);
  }

  private static float[][] cpuLogits(ModelConfig config, int[] tokens) throws Exception {
    DeviceOptions options = new DeviceOptions("cpu", 1, KvSpec.Type.F32);
    try (Backend cpu = CpuBackend.open(CudaModels.weights(config), options);
        KvPool pool = cpu.openPool(4, 16)) {
      assertThat(pool.pages()).isEqualTo(4);
      return Sequences.logits(cpu, tokens, tokens.length, Sequences.pages(tokens.length));
    }
  }

  /** Chunks of other sizes, decode by graphs, and rows beside it that choose the same experts. */
  @ParameterizedTest
  @MethodSource("models")
  void logitsDependOnTheirPrefixAlone(ModelConfig config) throws Exception {
    int[] tokens = Sequences.randomTokens(100, CudaModels.VOCAB, 4);
    int[] pages = Sequences.pages(tokens.length);
    try (CudaBackend backend = open(config);
        KvPool pool = backend.openPool(20, 16)) {
      float[][] whole = Sequences.logits(backend, tokens, tokens.length, pages);
      assertThat(pool.pages()).isEqualTo(20);
      assertThat(Sequences.logits(backend, tokens, 9, pages)).isDeepEqualTo(whole);
      assertThat(Sequences.logits(backend, tokens, 33, pages)).isDeepEqualTo(whole);
      int[] other = Sequences.pages(160, 7);
      float[] logits = new float[CudaModels.VOCAB];
      Batch batch = new Batch();
      for (int companions : new int[] {0, 3, 60}) {
        for (int at : new int[] {0, 50, 99}) {
          batch.clear();
          batch.beginChunk(other, other.length, 0);
          for (int i = 0; i < companions; i++) {
            batch.token(tokens[(at + i) % tokens.length]);
          }
          if (companions == 0) {
            batch.clear();
          }
          batch.beginChunk(pages, pages.length, at);
          batch.token(tokens[at]);
          int output = batch.output(null, Batch.LOGITS);
          Sequences.run(backend, batch).logits(output, logits);
          assertThat(logits).as("position %d, %d others", at, companions).isEqualTo(whole[at]);
        }
      }
    }
  }
}
